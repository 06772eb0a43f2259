/* xs_probe_step(out, reads): the smallest difference of two readings of %globaltimer in a row that differ.
 * xs_probe_record(out, ring, loops, on): cycles of `loops` rounds of 128 dependent FMAs, each followed by one record if on.
 * xs_probe_store(slots, count, halves): each thread fills its own 16 bytes `count` times with one value in all four words, by one
 *   store or by two of 8 bytes.
 * xs_probe_add(counter, flags, count): says in flags[0] that it is there, waits for flags[32] and adds 1 `count` times. */
#include "cuda_probe.h"

const char *const xs_cuda_probe_names[XS_PROBE_KERNELS] = {"xs_probe_step", "xs_probe_record", "xs_probe_store",
                                                           "xs_probe_add"};

#define FMA_4 " fma.rn.f32 %x, %x, %y, %y;\n fma.rn.f32 %x, %x, %y, %y;\n fma.rn.f32 %x, %x, %y, %y;\n fma.rn.f32 %x, %x, %y, %y;\n"
#define FMA_32 FMA_4 FMA_4 FMA_4 FMA_4 FMA_4 FMA_4 FMA_4 FMA_4

const char xs_cuda_probe_ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry xs_probe_step(.param .u64 out, .param .u32 reads)\n{\n"
    " .reg .u64 %out, %time, %last, %gone;\n .reg .u32 %reads, %least, %step;\n .reg .pred %p;\n"
    " ld.param.u64 %out, [out];\n ld.param.u32 %reads, [reads];\n mov.u32 %least, 0x7fffffff;\n mov.u64 %last, %globaltimer;\n"
    "read:\n setp.eq.u32 %p, %reads, 0;\n @%p bra done;\n sub.u32 %reads, %reads, 1;\n mov.u64 %time, %globaltimer;\n"
    " sub.u64 %gone, %time, %last;\n mov.u64 %last, %time;\n cvt.u32.u64 %step, %gone;\n setp.eq.u32 %p, %step, 0;\n @%p bra read;\n"
    " min.u32 %least, %least, %step;\n bra read;\n"
    "done:\n st.relaxed.sys.global.u32 [%out], %least;\n ret;\n}\n"

    ".visible .entry xs_probe_record(.param .u64 out, .param .u64 ring, .param .u32 loops, .param .u32 on)\n{\n"
    " .reg .u64 %out, %ring, %at, %begin, %end;\n .reg .u32 %loops, %on, %cursor, %slot, %time;\n .reg .f32 %x, %y;\n .reg .pred %p, %more;\n"
    " ld.param.u64 %out, [out];\n ld.param.u64 %ring, [ring];\n ld.param.u32 %loops, [loops];\n ld.param.u32 %on, [on];\n"
    " setp.ne.u32 %p, %on, 0;\n mov.u32 %cursor, 1;\n mov.f32 %x, 0f3f800000;\n cvt.rn.f32.u32 %y, %on;\n mov.u64 %begin, %clock64;\n"
    "round:\n" FMA_32 FMA_32 FMA_32 FMA_32
    " @!%p bra next;\n"
    " mov.u32 %time, %globaltimer_lo;\n and.b32 %slot, %cursor, 4095;\n mad.wide.u32 %at, %slot, 16, %ring;\n"
    " st.global.v4.u32 [%at], {%cursor, %loops, %slot, %time};\n"
    "next:\n add.u32 %cursor, %cursor, 1;\n setp.le.u32 %more, %cursor, %loops;\n @%more bra round;\n"
    " mov.u64 %end, %clock64;\n sub.u64 %end, %end, %begin;\n st.relaxed.sys.global.u64 [%out], %end;\n"
    " st.relaxed.sys.global.f32 [%out+8], %x;\n ret;\n}\n"

    ".visible .entry xs_probe_store(.param .u64 slots, .param .u32 count, .param .u32 halves)\n{\n"
    " .reg .u64 %slots, %at;\n .reg .u32 %count, %halves, %n, %block, %threads, %thread, %index;\n .reg .pred %p, %more;\n"
    " ld.param.u64 %slots, [slots];\n ld.param.u32 %count, [count];\n ld.param.u32 %halves, [halves];\n"
    " mov.u32 %block, %ctaid.x;\n mov.u32 %threads, %ntid.x;\n mov.u32 %thread, %tid.x;\n mad.lo.u32 %index, %block, %threads, %thread;\n"
    " mad.wide.u32 %at, %index, 16, %slots;\n setp.ne.u32 %p, %halves, 0;\n mov.u32 %n, 1;\n"
    "again:\n @%p bra split;\n st.volatile.global.v4.u32 [%at], {%n, %n, %n, %n};\n bra next;\n"
    "split:\n st.volatile.global.v2.u32 [%at], {%n, %n};\n st.volatile.global.v2.u32 [%at+8], {%n, %n};\n"
    "next:\n add.u32 %n, %n, 1;\n setp.le.u32 %more, %n, %count;\n @%more bra again;\n ret;\n}\n"

    ".visible .entry xs_probe_add(.param .u64 counter, .param .u64 flags, .param .u32 count)\n{\n"
    " .reg .u64 %counter, %flags;\n .reg .u32 %count, %go, %polls;\n .reg .pred %p;\n"
    " ld.param.u64 %counter, [counter];\n ld.param.u64 %flags, [flags];\n ld.param.u32 %count, [count];\n"
    " st.relaxed.sys.global.u32 [%flags], 1;\n mov.u32 %polls, 0;\n"
    "poll:\n add.u32 %polls, %polls, 1;\n setp.gt.u32 %p, %polls, 2000000;\n @%p bra done;\n"
    " ld.relaxed.sys.global.u32 %go, [%flags+128];\n setp.eq.u32 %p, %go, 0;\n @%p bra poll;\n"
    "add:\n red.relaxed.sys.global.add.u64 [%counter], 1;\n sub.u32 %count, %count, 1;\n setp.ne.u32 %p, %count, 0;\n @%p bra add;\n"
    "done:\n ret;\n}\n";
