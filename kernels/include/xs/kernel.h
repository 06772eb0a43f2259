/* Everything that a kernel needs: identity, writer, notes and the primitives. docs/primitives.md is the table. */
#ifndef XS_KERNEL_H
#define XS_KERNEL_H

#include <xs/barrier.h>
#include <xs/block.h>
#include <xs/channel.h>
#include <xs/define.h>
#include <xs/elect.h>
#include <xs/flush.h>
#include <xs/gate.h>
#include <xs/heartbeat.h>
#include <xs/notes.h>
#include <xs/notes_wait.h>
#include <xs/payload.h>
#include <xs/release.h>
#include <xs/self.h>
#include <xs/slot.h>
#include <xs/trap.h>
#include <xs/watermark.h>
#include <xs/writer.h>

#endif
