/* Built without CUPTI's headers, or with -DXS_CUPTI=OFF. */
#include "cupti_session.h"
#include "cupti_feed.h"

xs_cupti *xs_cupti_start(xs_world *world) {
    xs_cupti_feed feed;
    xs_feed_open(&feed, world->region);
    xs_feed_why(&feed, world->config.cupti < 0 ? XS_CUPTI_OFF : XS_CUPTI_NOT_BUILT, "%s", "");
    xs_feed_close(&feed);
    return NULL;
}

void xs_cupti_stop(xs_cupti *cupti) { (void)cupti; }
void xs_cupti_forget(void) {}

uint32_t xs_cupti_probe(uint32_t *version, const char **why) {
    *version = 0;
    *why = "xs was built without CUPTI";
    return XS_CUPTI_NOT_BUILT;
}
