/* UCB on Gaussian arms under censorship, one round at a time: the loop one would write in C.
   xoshiro256++ for bits, Marsaglia's polar method for normals, an index recomputed only for the
   arm that was observed. Usage: arms ARMS HORIZON REPLICATIONS OBSERVE TRACK
   TRACK 0 keeps pulls and regret, 1 also both potentials, as halfseen does by default. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t s[4] = {1, 2, 3, 4};
static inline uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
static inline uint64_t bits(void) {
  uint64_t r = rotl(s[0] + s[3], 23) + s[0], t = s[1] << 17;
  s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = rotl(s[3], 45);
  return r;
}
static inline double uniform(void) { return (bits() >> 11) * 0x1.0p-53; }
static double spare;
static int have_spare;
static inline double normal(void) {
  if (have_spare) { have_spare = 0; return spare; }
  double u, v, q;
  do { u = 2 * uniform() - 1; v = 2 * uniform() - 1; q = u * u + v * v; } while (q >= 1 || q == 0);
  double m = sqrt(-2 * log(q) / q);
  spare = v * m; have_spare = 1;
  return u * m;
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  int arms = atoi(argv[1]), track = atoi(argv[5]);
  long horizon = atol(argv[2]), replications = atol(argv[3]);
  double observe = atof(argv[4]);
  double *mean = malloc(8 * arms), *count = malloc(8 * arms), *sum = malloc(8 * arms);
  double *index = malloc(8 * arms), *pulls = malloc(8 * arms);
  for (int a = 0; a < arms; a++) mean[a] = 0.5 - 0.5 * a / arms;
  double lambda = 1, bound = 0.5, explore = 6 * log((double)horizon), regret = 0, potential = 0;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (long r = 0; r < replications; r++) {
    for (int a = 0; a < arms; a++) {
      count[a] = sum[a] = pulls[a] = 0;
      index[a] = sqrt(explore / lambda) + bound;
    }
    double half = 0, one = 0;
    for (long t = 0; t < horizon; t++) {
      int best = 0;
      double top = index[0];
      for (int a = 1; a < arms; a++) if (index[a] > top) { top = index[a]; best = a; }
      pulls[best] += 1;
      if (track) { double w = 1 / (count[best] + lambda); half += sqrt(w); one += w; }
      if (uniform() < observe) {
        sum[best] += mean[best] + normal();
        count[best] += 1;
        double w = 1 / (count[best] + lambda);
        index[best] = sum[best] * w + sqrt(explore * w) + lambda * bound * w;
      }
    }
    for (int a = 0; a < arms; a++) regret += pulls[a] * (mean[0] - mean[a]);
    potential += half + one;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  double seconds = end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec);
  printf("%.9f %.6f %.6f\n", seconds, regret / replications, potential / replications);
  return 0;
}
