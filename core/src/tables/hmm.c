/* Hidden Markov models with diagonal Gaussians: likelihood, expected counts, and scores of blends.

   Passes are scaled frame by frame, so that nothing underflows. */

#include "../kernels.h"
#include "../math/elementary.h"
#include "../math/simd4.h"

#define HMM_LOG_2PI 0x1.d67f1c864beb4p+0

/* A chain, with what its densities are made of: states side by side, so that they are made
   together. `emissions` and `alpha` hold densities and forward chances of every frame. */
typedef struct {
    int64_t n_frames, n_dims, n_states;
    const double *start, *steps;
    double *means, *half_inverse, *constant; /* (n_dims, n_states), the same, (n_states) */
    double *emissions, *alpha, *scale;       /* (n_frames, n_states), the same, (n_frames) */
} hmm_chain;

/* The chain in scratch memory of 2 n_states n_dims + n_states + 2 n_frames n_states + n_frames. */
static hmm_chain hmm_prepare(int64_t n_frames, int64_t n_dims, int64_t n_states,
                             const double *start, const double *steps, const double *means,
                             const double *variances, double *scratch) {
    hmm_chain chain = {.n_frames = n_frames, .n_dims = n_dims, .n_states = n_states};
    chain.start = start;
    chain.steps = steps;
    chain.means = scratch;
    chain.half_inverse = chain.means + n_states * n_dims;
    chain.constant = chain.half_inverse + n_states * n_dims;
    chain.emissions = chain.constant + n_states;
    chain.alpha = chain.emissions + n_frames * n_states;
    chain.scale = chain.alpha + n_frames * n_states;
    for (int64_t s = 0; s < n_states; s++) {
        chain.constant[s] = -0.5 * (double)n_dims * HMM_LOG_2PI;
        for (int64_t k = 0; k < n_dims; k++) {
            double variance = variances[n_dims * s + k];
            chain.means[n_states * k + s] = means[n_dims * s + k];
            chain.half_inverse[n_states * k + s] = 0.5 / variance;
            chain.constant[s] -= 0.5 * ml_log(variance);
        }
    }
    return chain;
}

/* Logarithms of eight states' densities in a frame, made together. */
static void hmm_densities(const hmm_chain *chain, const double *frame, int64_t s, double *out) {
    ml_pair a = ml_pair_load(chain->constant + s), b = ml_pair_load(chain->constant + s + 2);
    ml_pair c = ml_pair_load(chain->constant + s + 4), d = ml_pair_load(chain->constant + s + 6);
    const double *mean = chain->means + s, *half_inverse = chain->half_inverse + s;
    for (int64_t k = 0; k < chain->n_dims; k++) {
        ml_pair value = {frame[k], frame[k]}, apart = value - ml_pair_load(mean);
        a -= ml_pair_load(half_inverse) * apart * apart;
        apart = value - ml_pair_load(mean + 2);
        b -= ml_pair_load(half_inverse + 2) * apart * apart;
        apart = value - ml_pair_load(mean + 4);
        c -= ml_pair_load(half_inverse + 4) * apart * apart;
        apart = value - ml_pair_load(mean + 6);
        d -= ml_pair_load(half_inverse + 6) * apart * apart;
        mean += chain->n_states;
        half_inverse += chain->n_states;
    }
    ml_pair_store(a, out + s);
    ml_pair_store(b, out + s + 2);
    ml_pair_store(c, out + s + 4);
    ml_pair_store(d, out + s + 6);
}

/* Densities over each frame's largest; gives the sum of the largest's logarithms. */
static double hmm_emissions(const hmm_chain *chain, const double *sequence) {
    int64_t n_states = chain->n_states, n_dims = chain->n_dims;
    double total = 0.0;
    for (int64_t t = 0; t < chain->n_frames; t++) {
        double *out = chain->emissions + n_states * t, highest = -HUGE_VAL;
        const double *frame = sequence + n_dims * t;
        int64_t first = 0;
        for (; first + 8 <= n_states; first += 8) hmm_densities(chain, frame, first, out);
        for (int64_t s = first; s < n_states; s++) {
            out[s] = chain->constant[s];
            for (int64_t k = 0; k < n_dims; k++) {
                double apart = frame[k] - chain->means[n_states * k + s];
                out[s] -= chain->half_inverse[n_states * k + s] * apart * apart;
            }
        }
        for (int64_t s = 0; s < n_states; s++) highest = ml_max(highest, out[s]);
        for (int64_t s = 0; s < n_states; s++) out[s] = ml_exp(out[s] - highest);
        total += highest;
    }
    return total;
}

/* Chances of eight states after those of the frame before, made together. */
static void hmm_follow(int64_t n_states, const double *before, const double *steps, double *out) {
    ml_pair a = {0.0}, b = {0.0}, c = {0.0}, d = {0.0};
    for (int64_t r = 0; r < n_states; r++, steps += n_states) {
        ml_pair chance = {before[r], before[r]};
        a += chance * ml_pair_load(steps);
        b += chance * ml_pair_load(steps + 2);
        c += chance * ml_pair_load(steps + 4);
        d += chance * ml_pair_load(steps + 6);
    }
    ml_pair_store(a, out);
    ml_pair_store(b, out + 2);
    ml_pair_store(c, out + 4);
    ml_pair_store(d, out + 6);
}

/* Scaled forward pass; gives the logarithm of the scales' product. */
static double hmm_forward(const hmm_chain *chain) {
    int64_t n_states = chain->n_states;
    double total = 0.0;
    for (int64_t t = 0; t < chain->n_frames; t++) {
        double *now = chain->alpha + n_states * t, mass = 0.0;
        const double *emission = chain->emissions + n_states * t, *before = now - n_states;
        if (t == 0) {
            for (int64_t s = 0; s < n_states; s++) now[s] = chain->start[s];
        } else {
            int64_t first = 0;
            for (; first + 8 <= n_states; first += 8)
                hmm_follow(n_states, before, chain->steps + first, now + first);
            for (int64_t s = first; s < n_states; s++) {
                now[s] = 0.0;
                for (int64_t r = 0; r < n_states; r++)
                    now[s] += before[r] * chain->steps[n_states * r + s];
            }
        }
        for (int64_t s = 0; s < n_states; s++) {
            now[s] *= emission[s];
            mass += now[s];
        }
        for (int64_t s = 0; s < n_states; s++) now[s] /= mass;
        chain->scale[t] = mass;
        total += ml_log(mass);
    }
    return total;
}

void ml_hmm_likelihoods(int64_t n, int64_t n_frames, int64_t n_dims, int64_t n_states,
                        const double *sequences, const double *start, const double *steps,
                        const double *means, const double *variances, double *scratch,
                        double *out) {
    hmm_chain chain =
        hmm_prepare(n_frames, n_dims, n_states, start, steps, means, variances, scratch);
    for (int64_t i = 0; i < n; i++) {
        double largest = hmm_emissions(&chain, sequences + n_frames * n_dims * i);
        out[i] = largest + hmm_forward(&chain);
    }
}

double ml_hmm_expect(int64_t n, int64_t n_frames, int64_t n_dims, int64_t n_states,
                     const double *sequences, const double *start, const double *steps,
                     const double *means, const double *variances, double *scratch,
                     double *restrict starts, double *restrict moves, double *restrict visits,
                     double *restrict first, double *restrict second) {
    hmm_chain chain =
        hmm_prepare(n_frames, n_dims, n_states, start, steps, means, variances, scratch);
    double *restrict beta = chain.scale + n_frames, *restrict following = beta + n_states;
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double *sequence = sequences + n_frames * n_dims * i;
        total += hmm_emissions(&chain, sequence);
        total += hmm_forward(&chain);
        for (int64_t s = 0; s < n_states; s++) beta[s] = 1.0;
        for (int64_t t = n_frames - 1; t >= 0; t--) {
            const double *alpha = chain.alpha + n_states * t;
            const double *emission = chain.emissions + n_states * (t + 1);
            if (t + 1 < n_frames) {
                for (int64_t s = 0; s < n_states; s++)
                    following[s] = beta[s] * emission[s] / chain.scale[t + 1];
                for (int64_t r = 0; r < n_states; r++) {
                    double chance = 0.0, here = alpha[r];
                    for (int64_t s = 0; s < n_states; s++) {
                        double step = steps[n_states * r + s] * following[s];
                        moves[n_states * r + s] += here * step;
                        chance += step;
                    }
                    beta[r] = chance;
                }
            }
            for (int64_t s = 0; s < n_states; s++) {
                double here = alpha[s] * beta[s];
                visits[s] += here;
                if (t == 0) starts[s] += here;
                for (int64_t k = 0; k < n_dims; k++) {
                    double value = sequence[n_dims * t + k], weighed = here * value;
                    first[n_dims * s + k] += weighed;
                    second[n_dims * s + k] += weighed * value;
                }
            }
        }
    }
    return total;
}

ml_status ml_hmm_judge(int64_t n_windows, int64_t n_frames, int64_t n_dims, const float *seen,
                       int64_t n, int64_t n_ways, const int64_t *ids, const double *weights,
                       const double *offset, int64_t n_states, const double *start,
                       const double *steps, const double *means, const double *variances,
                       double *restrict blend, double *restrict sequence, double *scratch,
                       double *out) {
    if (n_frames < 3) return ML_BAD_SIZE;
    for (int64_t i = 0; i < n * n_ways; i++)
        if (ids[i] < 0 || ids[i] >= n_windows) return ML_BAD_SIZE;
    int64_t width = 3 * n_dims, n_scored = n_frames - 2;
    hmm_chain chain =
        hmm_prepare(n_scored, n_dims, n_states, start, steps, means, variances, scratch);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < n_frames * width; k++) blend[k] = 0.0;
        for (int64_t way = 0; way < n_ways; way++) {
            const float *restrict window = seen + n_frames * width * ids[n_ways * i + way];
            for (int64_t t = 0; t < n_frames; t++) {
                double weight = weights[n_frames * way + t];
                for (int64_t k = width * t; k < width * (t + 1); k++)
                    blend[k] += weight * (double)window[k];
            }
        }
        for (int64_t t = 0; t < n_scored; t++) {
            const double *before = blend + width * t;
            const double *here = before + width + n_dims, *after = before + 2 * width + 2 * n_dims;
            for (int64_t k = 0; k < n_dims; k++)
                sequence[n_dims * t + k] = (before[k] + here[k] + after[k]) - offset[k];
        }
        double total = hmm_emissions(&chain, sequence);
        total += hmm_forward(&chain);
        out[i] = total / (double)n_scored;
    }
    return ML_OK;
}
