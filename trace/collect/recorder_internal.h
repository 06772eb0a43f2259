/* Shared by recorder*.c. */
#ifndef XS_RECORDER_INTERNAL_H
#define XS_RECORDER_INTERNAL_H

#include <poll.h>
#include <sys/types.h>

#include "collector.h"
#include "protocol.h"
#include "recorder.h"

typedef struct recorded { /* a world; recorder_worlds.c */
    struct recorded *next;
    xs_collector *collector; /* NULL: it is over */
    uint32_t index;          /* in the result */
    uint32_t live;           /* processes that have come and not ended */
    uint32_t ranks, here;    /* of the world; of them, that have come */
    uint64_t *came;          /* the process of each rank that has come; NULL: it is nobody's yet, or over */
    int begin_error;         /* the capture could not take its place */
    char shared[sizeof((xs_recorder_message *)0)->text];
} recorded;

typedef struct connection {
    struct connection *next;
    int fd, pidfd; /* pidfd -1: none */
    pid_t pid;     /* 0: of another pid namespace */
    void *map;
    uint64_t map_bytes;
    xs_collected *region; /* NULL: has not said hello */
    recorded *world;      /* with it */
    uint64_t closed_since; /* ms; 0: the socket is open. Of a process that ends it closes first */
    uint64_t gone_since;   /* ms; 0: alive */
    int exit_status;      /* -1: unknown */
    int status_known;
} connection;

typedef struct recorder {
    xs_recorder_options options;
    xs_recorder_result *result;
    recorded *worlds; /* in the order of their coming, from the start the first one */
    char folder[64], socket_path[96];
    int listener, signals;
    pid_t command;
    int command_ended;
    uint64_t joined_at;  /* ms: when a process came, and nobody was asked since; 0: not so */
    uint64_t idle_since; /* ms: command and recorded processes have ended; 0: not so */
    connection *connections;
    uint32_t connection_count;
    struct pollfd *polls;
    uint32_t polls_size;
} recorder;

uint64_t xs_recorder_ms(void);
/* Before the command starts; the capture is held until it has. */
int xs_recorder_worlds_open(recorder *r);
void xs_recorder_worlds_begin(recorder *r);
/* The world of a process whose region's header was checked, one more process of it; xs_recorder_world_left when that
 * is over. An error of the capture that it needs, or XS_E_MEMORY. */
int xs_recorder_world_join(recorder *r, const xs_region_header *header, const char *shared, recorded **world);
void xs_recorder_world_left(recorder *r, recorded *world);
uint64_t xs_recorder_worlds_pass(recorder *r);
void xs_recorder_worlds_dump(recorder *r, const char *why);
void xs_recorder_worlds_close(recorder *r); /* and says in the result what was recorded */
int xs_recorder_listen(recorder *r);
void xs_recorder_unlisten(recorder *r);
void xs_recorder_accept(recorder *r);
/* A message or the end of the connection. */
void xs_recorder_serve(recorder *r, connection *c);
void xs_recorder_gone(connection *c);
void xs_recorder_child_ended(recorder *r, pid_t pid, int status);
/* Ends regions of processes that are gone; frees their connections. */
void xs_recorder_bury(recorder *r);

#endif
