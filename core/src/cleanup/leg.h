/* What is known of a leg that is cleaned. */

#ifndef MOTIONLOOM_LEG_H
#define MOTIONLOOM_LEG_H

/* Damping of free legs sets in at this part of the reach before it; the second next to a hold. */
#define ML_LEG_SOFT 0.022
#define ML_LEG_HARD 0.004

#endif
