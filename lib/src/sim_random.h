/* The one source of chance of the sim scheduler: xoshiro256** (Blackman and Vigna), filled from the seed by
 * splitmix64. */
#ifndef XS_SIM_RANDOM_H
#define XS_SIM_RANDOM_H

#include <stdint.h>

typedef struct xs_sim_random {
    uint64_t s[4];
} xs_sim_random;

static inline uint64_t sim_splitmix(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static inline void sim_random_seed(xs_sim_random *r, uint64_t seed) {
    for (int i = 0; i < 4; i++)
        r->s[i] = sim_splitmix(&seed);
}

static inline uint64_t sim_rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t sim_random(xs_sim_random *r) {
    uint64_t result = sim_rotate(r->s[1] * 5, 7) * 9;
    uint64_t t = r->s[1] << 17;
    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = sim_rotate(r->s[3], 45);
    return result;
}

/* 0 .. n-1, from 32 random bits; n is small, so that the bias does not matter. */
static inline uint32_t sim_scale(uint32_t bits, uint32_t n) { return (uint32_t)(((uint64_t)bits * n) >> 32); }

#endif
