#include "exit_list.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static xs_exit_entry *first;
static int exiting, installed;

static void stop_all(void) {
    pthread_mutex_lock(&lock);
    exiting = 1;
    xs_exit_entry *entry = first;
    first = NULL;
    pthread_mutex_unlock(&lock);
    while (entry) {
        xs_exit_entry *next = entry->next;
        entry->stop(entry);
        entry = next;
    }
}

void xs_exit_add(xs_exit_entry *entry) {
    pthread_mutex_lock(&lock);
    if (!installed)
        installed = !atexit(stop_all);
    entry->next = first;
    first = entry;
    pthread_mutex_unlock(&lock);
}

int xs_exit_remove(xs_exit_entry *entry) {
    pthread_mutex_lock(&lock);
    xs_exit_entry **link = &first;
    while (*link && *link != entry)
        link = &(*link)->next;
    if (*link)
        *link = entry->next;
    int stays = exiting;
    pthread_mutex_unlock(&lock);
    return stays;
}

void xs_exit_forget(void) {
    pthread_mutex_init(&lock, NULL); /* another thread of the parent may have held it */
    first = NULL;
    exiting = 0;
}
