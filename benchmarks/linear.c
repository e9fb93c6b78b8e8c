/* LinUCB by hand for 10 coordinates and 20 actions: the loop that the cpu engine is held against.
 *
 *   linear recompute   T runs p   the same actions; a' W^-1 a of every action in every round
 *   linear incremental T runs p   the same actions; means and widths updated on observed rounds
 *   linear contexts    T runs p   new actions on the sphere in every round
 *
 * The inverse is updated by Sherman-Morrison in all of them. Prints seconds and mean regret.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define D 10
#define K 20

static uint64_t state[4] = {1, 2, 3, 4};

static inline uint64_t rotate(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

static inline uint64_t bits(void) { /* xoshiro256++ */
    uint64_t result = rotate(state[0] + state[3], 23) + state[0], shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate(state[3], 45);
    return result;
}

static inline double uniform(void) { return (bits() >> 11) * 0x1.0p-53; }

static double spare;
static int has_spare;

static inline double normal(void) { /* Marsaglia's polar method, both numbers used */
    if (has_spare) {
        has_spare = 0;
        return spare;
    }
    double u, v, square;
    do {
        u = 2 * uniform() - 1;
        v = 2 * uniform() - 1;
        square = u * u + v * v;
    } while (square >= 1 || square == 0);
    double scale = sqrt(-2 * log(square) / square);
    spare = v * scale;
    has_spare = 1;
    return u * scale;
}

static void on_sphere(double *x) {
    double square = 0;
    for (int i = 0; i < D; i++) {
        x[i] = normal();
        square += x[i] * x[i];
    }
    double scale = 1 / sqrt(square);
    for (int i = 0; i < D; i++) x[i] *= scale;
}

static inline double dot(const double *a, const double *b) {
    double total = 0;
    for (int i = 0; i < D; i++) total += a[i] * b[i];
    return total;
}

static inline double times(double matrix[D][D], const double *x, double *out) {
    double square = 0;
    for (int i = 0; i < D; i++) {
        out[i] = dot(matrix[i], x);
        square += out[i] * x[i];
    }
    return square;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    int incremental = !strcmp(argv[1], "incremental"), contexts = !strcmp(argv[1], "contexts");
    long horizon = atol(argv[2]);
    int runs = atoi(argv[3]);
    double observe = atof(argv[4]), regret = 0;
    static double theta[D], actions[K][D], columns[D][K], truth[K];
    on_sphere(theta);
    double best = -INFINITY;
    for (int k = 0; k < K; k++) {
        on_sphere(actions[k]);
        for (int i = 0; i < D; i++) columns[i][k] = actions[k][i];
        truth[k] = dot(actions[k], theta);
        if (truth[k] > best) best = truth[k];
    }
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int run = 0; run < runs; run++) {
        double inverse[D][D] = {{0}}, estimate[D] = {0}, v[D], mean[K] = {0}, width[K], spread = 0;
        for (int i = 0; i < D; i++) inverse[i][i] = 1;
        for (int k = 0; k < K; k++) width[k] = 1;
        for (long t = 0; t < horizon; t++) {
            if (contexts) {
                best = -INFINITY;
                for (int k = 0; k < K; k++) {
                    on_sphere(actions[k]);
                    truth[k] = dot(actions[k], theta);
                    if (truth[k] > best) best = truth[k];
                }
            }
            if (!incremental)
                for (int k = 0; k < K; k++) {
                    width[k] = times(inverse, actions[k], v);
                    mean[k] = dot(actions[k], estimate);
                }
            double radius = sqrt(spread + 2 * log((double)horizon)) + 1, top = -INFINITY;
            int chosen = 0;
            for (int k = 0; k < K; k++) {
                double value = mean[k] + radius * sqrt(width[k]);
                if (value > top) {
                    top = value;
                    chosen = k;
                }
            }
            regret += best - truth[chosen];
            if (uniform() >= observe) continue;
            double reward = truth[chosen] + normal();
            double s = times(inverse, actions[chosen], v), scale = 1 / (1 + s);
            double step = (reward - mean[chosen]) * scale;
            for (int i = 0; i < D; i++) {
                for (int j = 0; j < D; j++) inverse[i][j] -= v[i] * v[j] * scale;
                estimate[i] += v[i] * step;
            }
            spread += log1p(s);
            if (incremental) {
                double g[K] = {0};
                for (int i = 0; i < D; i++)
                    for (int k = 0; k < K; k++) g[k] += columns[i][k] * v[i];
                for (int k = 0; k < K; k++) {
                    mean[k] += g[k] * step;
                    width[k] = fmax(0, width[k] - g[k] * g[k] * scale);
                }
            }
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec);
    printf("%.9f %.6f\n", seconds, regret / runs);
    return 0;
}
