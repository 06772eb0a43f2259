/* Shared by recorder.c and recorder_connections.c. */
#ifndef XS_RECORDER_INTERNAL_H
#define XS_RECORDER_INTERNAL_H

#include <poll.h>
#include <sys/types.h>

#include "collector.h"
#include "recorder.h"

typedef struct connection {
    struct connection *next;
    int fd, pidfd; /* pidfd -1: none */
    pid_t pid;     /* 0: of another pid namespace */
    void *map;
    uint64_t map_bytes;
    xs_collected *region; /* NULL: has not said hello */
    uint64_t closed_since; /* ms; 0: the socket is open. Of a process that ends it closes first */
    uint64_t gone_since;   /* ms; 0: alive */
    int exit_status;      /* -1: unknown */
    int status_known;
} connection;

typedef struct recorder {
    xs_recorder_options options;
    xs_recorder_result *result;
    xs_collector *collector;
    char folder[64], socket_path[96];
    int listener, signals;
    pid_t command;
    int command_ended;
    int begin_error; /* the capture could not take its place */
    uint64_t joined_at;  /* ms: when a process came, and nobody was asked since; 0: not so */
    uint64_t idle_since; /* ms: command and recorded processes have ended; 0: not so */
    connection *connections;
    uint32_t connection_count;
    struct pollfd *polls;
    uint32_t polls_size;
} recorder;

uint64_t xs_recorder_ms(void);
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
