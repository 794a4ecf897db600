/* Naturalness: how similar a blend is to captured motion, by how its source and target move. The
   numbers are in kernels.h. */

#include "../kernels.h"
#include "../math/elementary.h"
#include "judge.h"

static const double natural_weights[4] = {ML_NATURAL_POSTURE, ML_NATURAL_VELOCITY, ML_NATURAL_FEET,
                                          ML_NATURAL_ACCELERATION};

/* Squared distance of a window's posture from its mean, mean over frames. All numbers of a posture
   are summed side by side, each in the order of the frames. */
static double natural_movement(const ml_terms *terms, int64_t window) {
    const float *posture = judge_window_posture(terms, window) + JUDGE_WIDE * terms->pad;
    double sums[JUDGE_WIDE] = {0.0}, squares[JUDGE_WIDE] = {0.0};
    double total = 0.0, length = (double)terms->length;
    for (int64_t t = 0; t < terms->length; t++)
        for (int g = 0; g < JUDGE_WIDE; g++) {
            double x = (double)posture[JUDGE_WIDE * t + g];
            sums[g] += x;
            squares[g] += x * x;
        }
    for (int g = 0; g < JUDGE_WIDE; g++) total += squares[g] / length - ml_square(sums[g] / length);
    return ml_max(total, 0.0);
}

/* Squared speed of a window's root, mean over steps. */
static double natural_speed(const ml_terms *terms, int64_t window) {
    const float *travel =
        judge_window_rows(terms, window) + JUDGE_TRAVEL * terms->n_padded + terms->pad;
    double sum = 0.0;
    for (int64_t t = 1; t < terms->length; t++) sum += (double)travel[t];
    return terms->length > 1 ? sum / (double)(terms->length - 1) : 0.0;
}

ml_status ml_natural_reference(const ml_terms *terms, const ml_scratch *scratch, int64_t source,
                               int64_t target, double *out) {
    int64_t ends[2] = {source, target};
    if (!ml_judge_fits(terms, scratch)) return ML_BAD_SIZE;
    out[0] = (double)terms->sole[3];
    out[1] = out[2] = out[3] = 0.0;
    for (int k = 0; k < 2; k++) {
        int32_t ids[4] = {(int32_t)ends[k], -1, -1, -1};
        float columns[JUDGE_COLUMNS] = {0.0f};
        ml_scored window = {terms,  scratch, ids, ml_judge_ways(terms, ids), 1u << JUDGE_COM_ACC,
                            columns};
        if (window.n != 1) return ML_BAD_SIZE;
        ml_mix rows = ml_judge_rows_of(&window);
        ml_judge_mix_steps(&window, &rows);
        ml_judge_steps(&window);
        ml_judge_travel(&window, &rows);
        out[1] += 0.5 * natural_movement(terms, ends[k]);
        out[2] += 0.5 * natural_speed(terms, ends[k]);
        out[3] += 0.5 * (double)columns[JUDGE_COM_ACC];
    }
    out[1] = sqrt(out[1]);
    out[2] = sqrt(out[2]);
    return ML_OK;
}

double ml_natural_logit(const double *reference, const float *columns) {
    double stature = ml_max(reference[0], 1e-6);
    double speed = reference[2] + ML_NATURAL_SLOW * sqrt(ML_GRAVITY * stature);
    double way = ML_NATURAL_STEP * sqrt(stature / ML_GRAVITY) * speed;
    double faster = (1.0 + (double)columns[JUDGE_COM_ACC]) / (1.0 + reference[3]);
    double relative[4] = {
        (double)columns[JUDGE_SPREAD] / (reference[1] + ML_NATURAL_STILL * stature),
        (double)columns[JUDGE_ROOT_SPREAD] / speed,
        ML_INCH * (double)columns[JUDGE_FOOT_IN] / way,
        faster > 1.0 ? ml_log1p(faster - 1.0) : 0.0,
    };
    double logit = ML_NATURAL_BIAS;
    for (int k = 0; k < 4; k++) logit -= natural_weights[k] * relative[k];
    return logit;
}
