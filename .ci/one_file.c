/* The front of the one-file executable: unpacks the runtime behind it once, verified, and becomes its Python.
 *
 * The file is this program, then one gzip-compressed tar archive for each C library, then a table that names them.
 * A runtime is unpacked beside its place and renamed into it, so that a directory with its name is complete. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { REFUSED = 3, BLOCK = 512, PIECE = 1 << 16, KEPT_DAYS = 30 };

/* The last bytes of the file, and before them one entry for each archive. Numbers are little-endian. */
struct entry {
    char library[16]; /* glibc or musl */
    uint64_t offset, size;
    unsigned char sha256[32];
};
struct table {
    uint64_t count;
    char magic[8];
};
static const char MAGIC[8] = "sizeup1";

static char runtime[3072]; /* the directory of all runtimes */

_Noreturn static void refuse(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    fputs("sizeup: ", stderr);
    vfprintf(stderr, format, rest);
    fputc('\n', stderr);
    exit(REFUSED);
}

_Noreturn static void refuse_directory(const char *path, const char *why) {
    refuse("%s: %s; set SIZEUP_RUNTIME to a directory on which programs may run, with 100 MB free", path, why);
}

/* SHA-256, FIPS 180-4. */
struct sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
};

static uint32_t rotated(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

static void sha256_block(uint32_t state[8], const unsigned char *block, const uint32_t constants[64]) {
    uint32_t words[64], v[8];
    for (int i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
                   block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + words[i - 7] +
                   (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
    }
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25);
        uint32_t one = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + words[i];
        uint32_t s0 = rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22);
        uint32_t two = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

/* The first 32 bits of the fractional part of a root of a prime, exact by integers: floor(2^32 * p^(1/n)). */
static uint32_t root_bits(uint32_t prime, int degree) {
    __uint128_t low = 0, high = (__uint128_t)1 << 37; /* the root of 311, 2^32 times as large, is below 2^37 */
    while (high - low > 1) {
        __uint128_t middle = (low + high) / 2;
        /* middle^n <= prime * 2^(32 n), without overflow: 2^111 at most */
        __uint128_t power = degree == 2 ? middle * middle : middle * middle * middle;
        if (power <= (__uint128_t)prime << (32 * degree))
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static void sha256_constants(uint32_t state[8], uint32_t constants[64]) {
    uint32_t found = 0;
    for (uint32_t number = 2; found < 64; number++) {
        uint32_t divisor = 2;
        while (number % divisor)
            divisor++;
        if (divisor != number)
            continue;
        if (found < 8)
            state[found] = root_bits(number, 2);
        constants[found++] = root_bits(number, 3);
    }
}

static uint32_t constants[64];

static void sha256_add(struct sha256 *sum, const unsigned char *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        sum->block[sum->length++ % 64] = data[i];
        if (sum->length % 64 == 0)
            sha256_block(sum->state, sum->block, constants);
    }
}

static void sha256_end(struct sha256 *sum, unsigned char digest[32]) {
    uint64_t bits = sum->length * 8;
    sha256_add(sum, (const unsigned char *)"\x80", 1);
    while (sum->length % 64 != 56)
        sha256_add(sum, (const unsigned char *)"", 1);
    for (int i = 7; i >= 0; i--) {
        unsigned char byte = (unsigned char)(bits >> (8 * i));
        sha256_add(sum, &byte, 1);
    }
    for (int i = 0; i < 32; i++)
        digest[i] = (unsigned char)(sum->state[i / 4] >> (24 - 8 * (i % 4)));
}

/* Remove a directory that this program made; what cannot be removed stays. */
static void remove_tree(const char *path) {
    char below[4096];
    struct dirent *entry;
    DIR *directory = opendir(path);
    if (directory) {
        while ((entry = readdir(directory))) {
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
                continue;
            if (snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= (int)sizeof below)
                continue;
            if (unlink(below))
                remove_tree(below);
        }
        closedir(directory);
    }
    rmdir(path);
}

_Noreturn static void failed_unpacking(const char *tree) {
    int error = errno;
    remove_tree(tree);
    refuse_directory(runtime, strerror(error));
}

static void write_all(int file, const unsigned char *data, size_t size, const char *tree) {
    while (size) {
        ssize_t written = write(file, data, size);
        if (written < 0)
            failed_unpacking(tree);
        data += written;
        size -= (size_t)written;
    }
}

/* The archive as it is inflated: where in it we are, and the file that is being written. */
struct unpacking {
    const char *tree;
    unsigned char header[BLOCK];
    size_t filled;      /* of the header */
    uint64_t left, pad; /* bytes of the file, and behind it up to the next block */
    int file;
};

static uint64_t octal(const unsigned char *digits, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count && digits[i] >= '0' && digits[i] <= '7'; i++)
        value = value * 8 + (uint64_t)(digits[i] - '0');
    return value;
}

static void start_member(struct unpacking *at) {
    char path[4096];
    const char *name = (const char *)at->header, *prefix = (const char *)at->header + 345;
    mode_t mode = (mode_t)octal(at->header + 100, 8) & 0777;
    if (!*name)
        return; /* the end of the archive */
    snprintf(path, sizeof path, "%s/%.155s%s%.100s", at->tree, prefix, *prefix ? "/" : "", name);
    if (at->header[156] == '5') {
        if (mkdir(path, mode) && errno != EEXIST)
            failed_unpacking(at->tree);
        return;
    }
    at->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (at->file < 0)
        failed_unpacking(at->tree);
    at->left = octal(at->header + 124, 12);
    at->pad = (BLOCK - at->left % BLOCK) % BLOCK;
}

static void unpack_piece(struct unpacking *at, const unsigned char *data, size_t size) {
    while (size) {
        size_t taken;
        if (at->left) {
            taken = at->left < size ? (size_t)at->left : size;
            write_all(at->file, data, taken, at->tree);
            at->left -= taken;
        } else if (at->pad) {
            taken = at->pad < size ? (size_t)at->pad : size;
            at->pad -= taken;
        } else {
            taken = BLOCK - at->filled < size ? BLOCK - at->filled : size;
            memcpy(at->header + at->filled, data, taken);
            at->filled += taken;
            if (at->filled == BLOCK) {
                at->filled = 0;
                start_member(at);
            }
        }
        data += taken;
        size -= taken;
        if (at->file >= 0 && !at->left) {
            if (close(at->file))
                failed_unpacking(at->tree);
            at->file = -1;
        }
    }
}

static int hash_differs(int self, const struct entry *archive, unsigned char *buffer) {
    struct sha256 sum = {0};
    unsigned char digest[32];
    sha256_constants(sum.state, constants);
    for (uint64_t done = 0; done < archive->size;) {
        size_t wanted = archive->size - done < PIECE ? (size_t)(archive->size - done) : PIECE;
        ssize_t got = pread(self, buffer, wanted, (off_t)(archive->offset + done));
        if (got <= 0)
            return 1;
        sha256_add(&sum, buffer, (size_t)got);
        done += (uint64_t)got;
    }
    sha256_end(&sum, digest);
    return memcmp(digest, archive->sha256, sizeof digest) != 0;
}

static void unpack(int self, const struct entry *archive, const char *tree) {
    static unsigned char packed[PIECE], plain[PIECE];
    struct unpacking at = {.tree = tree, .file = -1};
    z_stream stream = {0};
    int state = Z_OK;
    if (inflateInit2(&stream, 31) != Z_OK)
        refuse("out of memory");
    for (uint64_t done = 0; done < archive->size && state == Z_OK;) {
        size_t wanted = archive->size - done < PIECE ? (size_t)(archive->size - done) : PIECE;
        ssize_t got = pread(self, packed, wanted, (off_t)(archive->offset + done));
        if (got <= 0)
            failed_unpacking(tree);
        done += (uint64_t)got;
        stream.next_in = packed;
        stream.avail_in = (unsigned)got;
        do {
            stream.next_out = plain;
            stream.avail_out = PIECE;
            state = inflate(&stream, Z_NO_FLUSH);
            unpack_piece(&at, plain, PIECE - stream.avail_out);
        } while (state == Z_OK && (stream.avail_in || !stream.avail_out));
        state = state == Z_BUF_ERROR ? Z_OK : state;
    }
    inflateEnd(&stream);
    if (state != Z_STREAM_END) {
        errno = EIO;
        failed_unpacking(tree);
    }
}

static void make_directories(char *path, const char *shown) {
    struct stat found;
    for (char *slash = path + 1;; slash++) {
        if (*slash && *slash != '/')
            continue;
        char kept = *slash;
        *slash = 0;
        int error = mkdir(path, 0700) ? errno : 0;
        if (error && error != EEXIST && stat(path, &found))
            refuse_directory(shown, strerror(error));
        *slash = kept;
        if (!kept)
            break;
    }
    if (stat(path, &found) || !S_ISDIR(found.st_mode))
        refuse_directory(shown, "is no directory");
    if ((found.st_uid != geteuid() && found.st_uid != 0) || found.st_mode & 022)
        refuse_directory(shown, "another user could change what is in it");
}

static void choose_runtime(void) {
    const char *named = getenv("SIZEUP_RUNTIME"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length;
    if (named && *named)
        length = snprintf(runtime, sizeof runtime, "%s", named);
    else if (state && *state == '/')
        length = snprintf(runtime, sizeof runtime, "%s/sizeup/runtime", state);
    else if (home && *home == '/')
        length = snprintf(runtime, sizeof runtime, "%s/.local/state/sizeup/runtime", home);
    else
        refuse("HOME is not set; set SIZEUP_RUNTIME to a directory for the unpacked program");
    if (length >= (int)sizeof runtime || *runtime != '/')
        refuse("SIZEUP_RUNTIME: expected an absolute path of at most 3,000 characters");
}

/* Remove runtimes that have not started for a month, and what a start that was killed left behind. */
static void prune(const char *kept) {
    char path[4096];
    struct stat found;
    struct dirent *entry;
    DIR *directory = opendir(runtime);
    time_t oldest = time(NULL) - KEPT_DAYS * 86400L;
    while (directory && (entry = readdir(directory))) {
        if (*entry->d_name == '.' && strncmp(entry->d_name, ".new-", 5))
            continue;
        snprintf(path, sizeof path, "%s/%s", runtime, entry->d_name);
        if (strcmp(path, kept) && !lstat(path, &found) && S_ISDIR(found.st_mode) && found.st_mtime < oldest)
            remove_tree(path);
    }
    if (directory)
        closedir(directory);
}

static void install(int self, const char *file, const struct entry *archive, const char *place) {
    static unsigned char buffer[PIECE];
    char tree[4096];
    struct statvfs system;
    make_directories(runtime, runtime);
    if (!statvfs(runtime, &system) && system.f_flag & ST_NOEXEC)
        refuse_directory(runtime, "is mounted noexec");
    if (hash_differs(self, archive, buffer))
        refuse("%s: is damaged (its SHA-256 differs); copy it again", file);
    snprintf(tree, sizeof tree, "%s/.new-%ld-XXXXXX", runtime, (long)getpid());
    if (!mkdtemp(tree))
        refuse_directory(runtime, strerror(errno));
    unpack(self, archive, tree);
    int directory = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || syncfs(directory))
        failed_unpacking(tree);
    close(directory);
    if (rename(tree, place)) {
        int error = errno;
        remove_tree(tree);
        if (error != EEXIST && error != ENOTEMPTY) /* another first start was faster */
            refuse_directory(runtime, strerror(error));
    }
    prune(place);
}

int main(int count, char **arguments) {
    char file[4096], place[4096], python[4200];
    struct table table;
    struct entry entries[4], *archive = NULL;
    const char *library = access("/lib64/ld-linux-x86-64.so.2", F_OK) && access("/lib/ld-linux-aarch64.so.1", F_OK)
                              ? "musl"
                              : "glibc";
    ssize_t length = readlink("/proc/self/exe", file, sizeof file - 1);
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (length < 0 || self < 0)
        refuse("/proc/self/exe: %s; mount /proc", strerror(errno));
    file[length] = 0;
    off_t end = lseek(self, 0, SEEK_END) - (off_t)sizeof table;
    if (pread(self, &table, sizeof table, end) != sizeof table || memcmp(table.magic, MAGIC, sizeof MAGIC) ||
        table.count > 4)
        refuse("%s: is cut or damaged; copy it again", file);
    size_t size = (size_t)table.count * sizeof *entries;
    if (pread(self, entries, size, end - (off_t)size) != (ssize_t)size)
        refuse("%s: is cut or damaged; copy it again", file);
    for (uint64_t i = 0; i < table.count; i++)
        if (!strncmp(entries[i].library, library, sizeof entries[i].library))
            archive = entries + i;
    if (!archive)
        refuse("%s: holds no program for %s", file, library);
    choose_runtime();
    int written = snprintf(place, sizeof place, "%s/", runtime);
    for (int i = 0; i < 16; i++)
        written += snprintf(place + written, sizeof place - (size_t)written, "%02x", archive->sha256[i]);
    snprintf(python, sizeof python, "%s/bin/python3", place);
    if (access(python, F_OK))
        install(self, file, archive, place);
    utimensat(AT_FDCWD, place, NULL, 0); /* in use: prune leaves it */
    char **command = calloc((size_t)count + 4, sizeof *command);
    if (!command)
        refuse("out of memory");
    command[0] = python;
    command[1] = "-I";
    command[2] = "-m";
    command[3] = "sizeup";
    for (int i = 1; i < count; i++)
        command[i + 3] = arguments[i];
    setenv("SIZEUP_ONE_FILE", file, 1);
    execv(python, command);
    refuse_directory(python, errno == EACCES ? "cannot be executed; its file system may be mounted noexec"
                                             : strerror(errno));
}
