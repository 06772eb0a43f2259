/* Where in their brackets a device's answers lie. The way there and the way back are not alike noisy: on an H200 a
 * question waits up to a microsecond until a poll sees it, and the answer comes back in the same time give or take
 * 40 ns. So answers are not taken to lie in the middle, but at the same distance from the ends as all others, by
 * what each end's noise is; where the brackets lie, and so the bound, stays as it was. A bracket that is much wider
 * than usual holds a delay of the host, at either end: it counts the less. */
#include <math.h>

#include "internal.h"

#define LEAST 8        /* answers: of fewer the noise is not known */
#define SIGMA 1.48     /* standard deviation by the spread */
#define LEAST_SIGMA 16 /* ns */

enum end { ASKED, SEEN, WIDTH };

static int64_t distance(const rd_device *d, const rd_sample *s, enum end end, uint32_t *hint) {
    int64_t half = s->bracket / 2;
    return end == WIDTH ? s->bracket
                        : s->middle + (end == ASKED ? -half : half) - rd_fit_host(&d->fit, hint, s->device);
}

static double noise_of(const rd_device *d, enum end end, int64_t *room, int64_t *usual) {
    uint32_t hint = 0;
    for (uint32_t i = 0; i < d->sample_count; i++)
        room[i] = distance(d, &d->samples[i], end, &hint);
    *usual = rd_median(room, d->sample_count);
    return SIGMA * rd_spread(room, d->sample_count);
}

/* All samples are answers. */
int rd_answers_place(rd_device *d) {
    int64_t usual, wide, *room = d->sample_count < LEAST ? NULL : malloc(d->sample_count * sizeof *room);
    if (!room)
        return d->sample_count < LEAST ? 0 : XS_E_MEMORY;
    double asked = noise_of(d, ASKED, room, &usual), seen = noise_of(d, SEEN, room, &usual),
           width = noise_of(d, WIDTH, room, &wide);
    free(room);
    double weight = rd_weight_of_first(asked, seen, width), noise = width * sqrt(weight * (1 - weight));
    for (uint32_t i = 0; i < d->sample_count; i++) {
        rd_sample *s = &d->samples[i];
        int64_t excess = s->bracket - wide - (int64_t)(2 * width);
        s->host = s->middle + (int64_t)((0.5 - weight) * (double)(s->bracket - wide));
        s->excess = excess > 0 ? excess : 0;
        s->sigma = LEAST_SIGMA + noise + (double)s->excess / 2;
    }
    return 0;
}
