/* Sines, cosines and angles for files in degrees.

   Reducing in degrees is exact, so that 90 and 180 give clean zeros and ones; elementary.h wants
   radians, which are rounded first. No branch depends on the data, so that loops over these
   functions become vector instructions. */

#ifndef MOTIONLOOM_DEGREES_H
#define MOTIONLOOM_DEGREES_H

#include "../math/elementary.h"
#include "../math/select.h"

/* Cosine and sine of half an angle of up to 1e12 degrees, to 3e-16. */
static inline void ml_half_cos_sin(double degrees, double *cosine, double *sine) {
    /* The last bits of this sum are the half turns, the quarters of the half angle. */
    const double shift = 0x1.8p52;
    double turned = degrees * (1.0 / 180.0) + shift, c, s;
    double r = (degrees - (turned - shift) * 180.0) * (ML_PI / 360.0), q = r * r;
    /* Chebyshev's fits of (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4, as powers of r^2;
       in pairs, which do not wait for each other. */
    double qq = q * q, q4 = qq * qq;
    s = (-0x1.5555555555555p-3 + q * 0x1.1111111110babp-7) +
        (qq * (-0x1.a01a019e820aep-13 + q * 0x1.71de37946ed6dp-19) +
         q4 * (-0x1.ae6008d114485p-26 + q * 0x1.5e0a4fc16be59p-33));
    c = (0x1.5555555555555p-5 + q * -0x1.6c16c16c16963p-10) +
        (qq * (0x1.a01a019f4ddfdp-16 + q * -0x1.27e4fa16cc2d1p-22) +
         q4 * (0x1.1eeb67d026ec6p-29 + q * -0x1.907cd8ff5ede7p-37));
    s = r + r * q * s;
    c = 1.0 - (0.5 * q - qq * c);
    uint64_t quarters, from_c, from_s;
    memcpy(&quarters, &turned, sizeof quarters);
    memcpy(&from_c, &c, sizeof from_c);
    memcpy(&from_s, &s, sizeof from_s);
    /* Odd quarters swap the two; the sign is the second bit of their number. */
    uint64_t swapped = (from_c ^ from_s) & (0 - (quarters & 1));
    from_c = (from_c ^ swapped) ^ ((quarters + 1) >> 1 << 63);
    from_s = (from_s ^ swapped) ^ (quarters >> 1 << 63);
    memcpy(cosine, &from_c, sizeof from_c);
    memcpy(sine, &from_s, sizeof from_s);
}

/* Angle of (along, across) from the first axis in radians, to 1e-15, where neither is negative; 0
   where both are 0. */
static inline double ml_quick_angle(double across, double along) {
    double longer = ml_chosen(along > across, along, across);
    double shorter = ml_chosen(along > across, across, along);
    /* What lies within 11.25 degrees of 0, 22.5 or 45 degrees is measured from there. */
    _Bool steep = shorter > 0x1.561b82ab7f990p-1 * longer;
    _Bool flat = shorter <= 0x1.975f5e0553158p-3 * longer;
    double tangent = ml_chosen(steep, 1.0, ml_chosen(flat, 0.0, 0x1.a827999fcef34p-2));
    double angle = ml_chosen(steep, 0.25 * ML_PI, ml_chosen(flat, 0.0, 0.125 * ML_PI));
    double below = longer + tangent * shorter;
    double t = (shorter - tangent * longer) / ml_chosen(below > 0.0, below, 1.0);
    /* Chebyshev's fit of atan(t) / t, as powers of t^2; in pairs, which do not wait for each
       other. */
    double z = t * t, zz = z * z;
    double low = 0x1.ffffffffffff6p-1 + z * -0x1.5555555549649p-2;
    double middle = 0x1.99999973cfc6cp-3 + z * -0x1.249232ade7843p-3;
    double high = (0x1.c70fb108cb04ap-4 + z * -0x1.727ee61b6c83ep-4) + zz * 0x1.17e7f79ca23f8p-4;
    angle += t * ((low + zz * middle) + (zz * zz) * high);
    return ml_chosen(across > along, 0.5 * ML_PI - angle, angle);
}

/* The same for both signs of both. */
static inline double ml_quick_atan2(double y, double x) {
    double angle = ml_quick_angle(fabs(y), fabs(x));
    angle = ml_chosen(x < 0.0, ML_PI - angle, angle);
    return ml_chosen(y < 0.0, -angle, angle);
}

#endif
