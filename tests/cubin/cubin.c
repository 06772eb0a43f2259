/* Reads cubins, with no disassembler.
 *   cubin compare A B         exit 0 if both hold the same kernels with the same machine code (.text bytes)
 *   cubin growth PLAIN TRACED LIMIT [KERNEL=REGISTERS ...]
 *                             prints registers of each kernel; exit 0 if no traced kernel has a stack frame and none has
 *                             more than LIMIT registers more than its plain one, counted from 24 (the smallest budget
 *                             that ptxas and setmaxnreg know), or than what is allowed it by name
 *   cubin caps PLAIN LIMIT BASE
 *                             BASE.N.cubin holds the traced kernels, compiled for at most N registers. Exit 0 if each is without a
 *                             stack frame where N is its plain registers + LIMIT, rounded up to 8 (a warp is given registers in
 *                             eights a thread), at least 24
 *   cubin resident PLAIN TRACED LIMIT
 *                             as both are built. Exit 0 if no traced kernel has a stack frame, and each keeps within its plain
 *                             registers + LIMIT, rounded up to 8, at least 24
 *   cubin within TRACED KERNEL REGISTERS
 *                             exit 0 if the kernel has no stack frame and at most so many registers */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cubin {
    const char *path;
    unsigned char *bytes;
    size_t size;
    const Elf64_Shdr *sections;
    unsigned count;
    const char *names;
};

static void die(const char *path, const char *why) {
    fprintf(stderr, "%s: %s\n", path, why);
    exit(2);
}

static struct cubin load(const char *path) {
    struct cubin c = {.path = path};
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) || (c.size = (size_t)ftell(file)) < sizeof(Elf64_Ehdr))
        die(path, "cannot be read, or is no cubin");
    rewind(file);
    c.bytes = malloc(c.size);
    if (!c.bytes || fread(c.bytes, 1, c.size, file) != c.size)
        die(path, "cannot be read");
    fclose(file);
    const Elf64_Ehdr *head = (const void *)c.bytes;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_CUDA)
        die(path, "is no 64-bit CUDA ELF file");
    if (head->e_shoff > c.size || head->e_shnum > (c.size - head->e_shoff) / sizeof(Elf64_Shdr) || head->e_shstrndx >= head->e_shnum)
        die(path, "has a damaged section table");
    c.sections = (const void *)(c.bytes + head->e_shoff);
    c.count = head->e_shnum;
    for (unsigned i = 0; i < c.count; i++)
        if (c.sections[i].sh_type != SHT_NOBITS && (c.sections[i].sh_offset > c.size || c.sections[i].sh_size > c.size - c.sections[i].sh_offset))
            die(path, "has a section outside the file");
    c.names = (const char *)c.bytes + c.sections[head->e_shstrndx].sh_offset;
    return c;
}

static const char *name_of(const struct cubin *c, const Elf64_Shdr *s) { return c->names + s->sh_name; }

/* The kernel's name, or NULL if the section is no code. */
static const char *kernel_of(const struct cubin *c, const Elf64_Shdr *s) {
    return s->sh_type == SHT_PROGBITS && !strncmp(name_of(c, s), ".text.", 6) ? name_of(c, s) + 6 : NULL;
}

static const Elf64_Shdr *find(const struct cubin *c, const char *prefix, const char *kernel) {
    size_t length = strlen(prefix);
    for (unsigned i = 0; i < c->count; i++)
        if (!strncmp(name_of(c, &c->sections[i]), prefix, length) && !strcmp(name_of(c, &c->sections[i]) + length, kernel))
            return &c->sections[i];
    return NULL;
}

static unsigned kernels(const struct cubin *c) {
    unsigned n = 0;
    for (unsigned i = 0; i < c->count; i++)
        n += kernel_of(c, &c->sections[i]) != NULL;
    return n;
}

/* An attribute of a kernel in .nv.info: records of format 8, attribute 8, size 16, then symbol index and value. */
static long attribute(const struct cubin *c, const char *kernel, unsigned which) {
    const Elf64_Shdr *info = find(c, ".nv.info", ""), *symtab = find(c, ".symtab", "");
    if (!info || !symtab)
        die(c->path, "has no .nv.info or .symtab");
    const char *strings = (const char *)c->bytes + c->sections[symtab->sh_link].sh_offset;
    const Elf64_Sym *symbols = (const void *)(c->bytes + symtab->sh_offset);
    const unsigned char *p = c->bytes + info->sh_offset, *end = p + info->sh_size;
    while (end - p >= 4) {
        unsigned format = p[0], id = p[1], size = p[2] | p[3] << 8;
        if (format == 4 && id == which && size == 8 && end - p >= 12) {
            unsigned symbol, value;
            memcpy(&symbol, p + 4, 4);
            memcpy(&value, p + 8, 4);
            if (symbol < symtab->sh_size / sizeof *symbols && !strcmp(strings + symbols[symbol].st_name, kernel))
                return (long)value;
        }
        p += format == 4 ? 4 + size : 4;
    }
    die(c->path, "lacks an attribute");
    return -1;
}
enum { FRAME_SIZE = 0x11, REGCOUNT = 0x2f };

static int compare(const struct cubin *a, const struct cubin *b) {
    int different = kernels(a) != kernels(b);
    if (kernels(a) == 0)
        die(a->path, "holds no kernel");
    for (unsigned i = 0; i < a->count; i++) {
        const Elf64_Shdr *left = &a->sections[i];
        const char *kernel = kernel_of(a, left);
        if (!kernel)
            continue;
        const Elf64_Shdr *right = find(b, ".text.", kernel);
        int same = right && right->sh_size == left->sh_size &&
                   !memcmp(a->bytes + left->sh_offset, b->bytes + right->sh_offset, left->sh_size);
        printf("%-20s %6lu bytes %6ld bytes  %s\n", kernel, (unsigned long)left->sh_size, right ? (long)right->sh_size : -1L,
               same ? "equal" : "DIFFERENT");
        different |= !same;
    }
    return different;
}

/* KERNEL=REGISTERS among the arguments, or -1. */
static long allowed(const char *kernel, char **argv, int argc) {
    size_t length = strlen(kernel);
    for (int i = 0; i < argc; i++)
        if (!strncmp(argv[i], kernel, length) && argv[i][length] == '=')
            return atol(argv[i] + length + 1);
    return -1;
}

enum { FLOOR = 24 };

static int growth(const struct cubin *plain, const struct cubin *traced, long limit, char **argv, int argc) {
    int bad = kernels(plain) != kernels(traced);
    printf("%-20s %8s %8s %8s %8s\n", "kernel", "plain", "traced", "growth", "frame");
    for (unsigned i = 0; i < plain->count; i++) {
        const char *kernel = kernel_of(plain, &plain->sections[i]);
        if (!kernel)
            continue;
        long before = attribute(plain, kernel, REGCOUNT), after = attribute(traced, kernel, REGCOUNT);
        long frame = attribute(traced, kernel, FRAME_SIZE), ceiling = (before > FLOOR ? before : FLOOR) + limit;
        int over = after > ceiling, known = over && after <= allowed(kernel, argv, argc);
        printf("%-20s %8ld %8ld %+8ld %8ld%s%s\n", kernel, before, after, after - before, frame,
               known ? "  over the bar, known" : over ? "  TOO MANY" : "", frame ? "  STACK FRAME" : "");
        bad |= (over && !known) || frame != 0;
    }
    return bad;
}

/* A warp is given registers in eights a thread. */
static long eights(long registers) { return (registers + 7) / 8 * 8; }
static long bar_of(const struct cubin *plain, const char *kernel, long limit) {
    long bar = eights(attribute(plain, kernel, REGCOUNT) + limit);
    return bar > FLOOR ? bar : FLOOR;
}

static int fits(const struct cubin *traced, const char *kernel, long most) {
    long registers = attribute(traced, kernel, REGCOUNT), frame = attribute(traced, kernel, FRAME_SIZE);
    int bad = registers > most || frame != 0;
    printf("%-20s %8ld %8ld %8ld%s\n", kernel, most, registers, frame, bad ? "  DOES NOT FIT" : "");
    return bad;
}

static int resident(const struct cubin *plain, const struct cubin *traced, long limit) {
    int bad = kernels(plain) == 0 || kernels(plain) != kernels(traced);
    printf("%-20s %8s %8s %8s\n", "kernel", "bar", "traced", "frame");
    for (unsigned i = 0; i < plain->count; i++) {
        const char *kernel = kernel_of(plain, &plain->sections[i]);
        if (kernel)
            bad |= fits(traced, kernel, bar_of(plain, kernel, limit));
    }
    return bad;
}

/* The traced kernels for a cap: loaded once each. */
static const struct cubin *for_cap(const char *base, long cap) {
    static struct cubin known[32];
    static long caps[32];
    unsigned i = 0;
    while (caps[i] && caps[i] != cap)
        if (++i == 31)
            die(base, "has too many caps");
    if (!caps[i]) {
        char *path = malloc(strlen(base) + 32);
        if (!path)
            die(base, "no memory");
        sprintf(path, "%s.%ld.cubin", base, cap);
        known[i] = load(path);
        caps[i] = cap;
    }
    return &known[i];
}

static int caps(const struct cubin *plain, long limit, const char *base) {
    int bad = kernels(plain) == 0;
    printf("%-20s %8s %8s %8s\n", "kernel", "cap", "traced", "frame");
    for (unsigned i = 0; i < plain->count; i++) {
        const char *kernel = kernel_of(plain, &plain->sections[i]);
        if (!kernel)
            continue;
        long bar = bar_of(plain, kernel, limit);
        bad |= fits(for_cap(base, bar), kernel, bar);
    }
    return bad;
}

int main(int argc, char **argv) {
    if (argc == 4 && !strcmp(argv[1], "compare")) {
        struct cubin a = load(argv[2]), b = load(argv[3]);
        return compare(&a, &b);
    }
    if (argc >= 5 && !strcmp(argv[1], "growth")) {
        struct cubin a = load(argv[2]), b = load(argv[3]);
        return growth(&a, &b, atol(argv[4]), argv + 5, argc - 5);
    }
    if (argc == 5 && !strcmp(argv[1], "resident")) {
        struct cubin a = load(argv[2]), b = load(argv[3]);
        return resident(&a, &b, atol(argv[4]));
    }
    if (argc == 5 && !strcmp(argv[1], "caps")) {
        struct cubin plain = load(argv[2]);
        return caps(&plain, atol(argv[3]), argv[4]);
    }
    if (argc == 5 && !strcmp(argv[1], "within")) {
        struct cubin traced = load(argv[2]);
        return fits(&traced, argv[3], atol(argv[4]));
    }
    fprintf(stderr, "usage: cubin compare A B | growth PLAIN TRACED LIMIT [KERNEL=REGISTERS ...] | caps PLAIN LIMIT BASE | "
                    "resident PLAIN TRACED LIMIT | within TRACED KERNEL REGISTERS\n");
    return 64;
}
