/* motionloom for games: characters that move by captured motion, live.

   A table is a collection of captured clips together with the transitions between them. This library
   opens the file of a table and plays characters: each step gives the next frame of one, and an order
   (go there, hold this label, act that piece) makes it leave its clip by a transition whose feet stay
   on the ground.

       motionloom table export LIB.mlt -o lib.mlr        makes the file
       cc -std=c11 -O3 -ffp-contract=off motionloom.c game.c -lm       compiles the library with a game

   C11, C++, and through other wrappers C# and JavaScript. No dependency but the C library, no global
   state. The caller owns all memory: nothing is allocated, so nothing is closed.

   Contents
     1  Version and status
     2  A table: open it, look into it
     3  Poses and single transitions
     4  Live characters: open, order, step, ask
     5  A whole program

   Conventions
   - Metres, seconds, radians. Right-handed, +Y up. Heading 0 faces +Z, a heading h faces
     (sin h, 0, cos h).
   - Quaternions are unit, (w, x, y, z), and rotate vectors actively. The rotation of a joint in the
     world is that of its parent times its own.
   - A pose is the position of the root in the world, the rotation of every joint in its parent (the
     root's, joint 0, in the world), and flags of four foot points: left heel, left ball, right heel,
     right ball. A flag is 1 where the point is planted.
   - Arrays are dense and in C order. The comment of a function states the shape of every array, as
     `quats: (n_joints, 4)`. n_joints is ml_table_n_joints of the table.
   - A row is the number of a frame. Rows of all clips are counted through: ml_table_row has the row of
     a clip's frame.
   - The same input gives the same bits on every platform, if the sources are compiled so:
     GCC, Clang      -ffp-contract=off, and neither -ffast-math nor -Ofast nor any part of them;
                     every -O, -fno-math-errno, -mavx2 and the like are free; -O3 is 1.5 times
                     as quick as -O2
     x86 of 32 bits  also -msse2 -mfpmath=sse
     Other compilers must keep to IEEE 754 and know the vector types of GCC. On Windows take
     Clang or GCC for this library, whatever your program is compiled with. Machines are
     little-endian.

   Threads
   - A table, and all characters of it, are for one thread at a time.
   - ml_table_share opens the same table for another thread: poses and index exist once, and only the
     memory that is worked in is added. */

#ifndef MOTIONLOOM_H
#define MOTIONLOOM_H

#include <stdint.h>

#ifndef ML_API
#if defined(_WIN32)
#define ML_API __declspec(dllexport)
#else
#define ML_API __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1 Version and status ---------------------------------------------------------------------*/

#define ML_VERSION "0.1.0"
/* 10000 for the first number, 100 for the second, 1 for the third. */
#define ML_VERSION_NUMBER 100

/* The version of the library that runs. Where it is another than ML_VERSION, the program was compiled
   with another header. */
ML_API const char *ml_version(void);
ML_API int32_t ml_version_number(void);

/* Why a function did nothing, or not everything. */
typedef enum {
    ML_OK = 0,
    ML_BAD_SIZE = 1,      /* a size is negative, or sizes do not fit together */
    ML_MISSING = 2,       /* limits of a clip are not measured yet: in a game this never happens */
    ML_DAMAGED = 3,       /* a file is not what it should be */
    ML_NOWHERE = 4,       /* there is no such place, or its clip is too short for a transition */
    ML_OTHER_VERSION = 5, /* a file of another version: export it again */
    ML_UNALIGNED = 6, /* a file or memory does not begin at the multiple of bytes that it must */
    ML_NOT_FINITE = 7, /* the result is there; it has numbers that are nan, infinite or too large */
    ML_TOO_SHORT = 8   /* no piece of the label is long enough to be held */
} ml_status;

/* A status in words, for a log. */
ML_API const char *ml_status_text(int32_t status);

/* ---- 2 A table --------------------------------------------------------------------------------*/

/* A table, a live character, and the frames of a transition. What is in the first two is the library's
   alone: their sizes, in words of 8 bytes, leave room for later versions. */
#define ML_TABLE_ROOM 64
#define ML_STREAM_ROOM 64
#ifdef ML_KERNELS /* defined while the library itself is compiled */
typedef struct ml_table ml_table;
typedef struct ml_stream ml_stream;
#else
typedef struct ml_table {
    uint64_t room[ML_TABLE_ROOM];
} ml_table;
typedef struct ml_stream {
    uint64_t room[ML_STREAM_ROOM];
} ml_stream;
#endif

/* Frames of a transition: `n_frames` poses, of which `most` fit in, with the heading of each.
   heading: (most)  root: (most, 3)  quats: (most, n_joints, 4)  planted: (most, 4) */
typedef struct ml_frames {
    int64_t most, n_frames, n_joints;
    double *heading, *root, *quats;
    uint8_t *planted;
} ml_frames;

/* Bytes of these structs, for languages that cannot ask their compiler. */
ML_API int64_t ml_table_size(void);
ML_API int64_t ml_stream_size(void);
ML_API int64_t ml_frames_size(void);

/* Bytes of memory that a file needs to be opened. Below 0 it cannot be opened: the number is minus the
   status that says why. The file begins at a multiple of 8 bytes.
   file: (n_bytes) */
ML_API int64_t ml_table_memory(int64_t n_bytes, const uint8_t *file);

/* Open a file. Every number in it is checked: a damaged or made-up file is refused. The memory begins
   at a multiple of 16 bytes. Keep file and memory unchanged and in their places as long as the table.
   file: (n_bytes)  memory: (n_memory) */
ML_API ml_status ml_table_open(int64_t n_bytes, const uint8_t *file, int64_t n_memory,
                               uint8_t *memory, ml_table *table);

/* Bytes of memory that a table needs for another thread. */
ML_API int64_t ml_table_share_memory(const ml_table *table);

/* Open the same table for another thread, with characters of its own. Keep the first table and its
   memory as long as those made of it. The memory begins at a multiple of 16 bytes.
   memory: (n_memory) */
ML_API ml_status ml_table_share(const ml_table *table, int64_t n_memory, uint8_t *memory,
                                ml_table *out);

/* Frames a second of all clips and poses. */
ML_API double ml_table_fps(const ml_table *table);

/* Frames of a transition. */
ML_API int64_t ml_table_length(const ml_table *table);

/* How many joints, clips and labels there are. They are numbered from 0. */
ML_API int64_t ml_table_n_joints(const ml_table *table);
ML_API int64_t ml_table_n_clips(const ml_table *table);
ML_API int64_t ml_table_n_labels(const ml_table *table);

/* Name of a joint, clip or label in UTF-8, ended by a 0; empty where there is none. */
ML_API const char *ml_table_joint_name(const ml_table *table, int64_t joint);
ML_API const char *ml_table_clip_name(const ml_table *table, int64_t clip);
ML_API const char *ml_table_label_name(const ml_table *table, int64_t label);

/* Number of a joint, clip or label by its name; -1 where there is none. The name has `n_name` bytes,
   or ends with a 0 where `n_name` is -1.
   name: (n_name) */
ML_API int64_t ml_table_find_joint(const ml_table *table, int64_t n_name, const char *name);
/* name: (n_name) */
ML_API int64_t ml_table_find_clip(const ml_table *table, int64_t n_name, const char *name);
/* name: (n_name) */
ML_API int64_t ml_table_find_label(const ml_table *table, int64_t n_name, const char *name);

/* Frames of a clip; 0 where there is no such clip. */
ML_API int64_t ml_table_clip_frames(const ml_table *table, int64_t clip);

/* Frames of a label's longest piece, of those that transitions arrive in; 0 where there is no such
   label. A label can be held where this is at least ml_table_hold_frames: more than half a
   transition. */
ML_API int64_t ml_table_label_longest(const ml_table *table, int64_t label);
ML_API int64_t ml_table_hold_frames(const ml_table *table);

/* Row of a clip's frame; -1 where there is none. */
ML_API int64_t ml_table_row(const ml_table *table, int64_t clip, int64_t frame);

/* Clip of a row, and its frame in that clip; -1 where there is no such row. */
ML_API int64_t ml_table_row_clip(const ml_table *table, int64_t row);
ML_API int64_t ml_table_row_frame(const ml_table *table, int64_t row);

/* Parent of a joint. It is below the joint in number. -1 for the parent of the root, which is joint 0,
   and where there is no such joint. */
ML_API int64_t ml_table_joint_parent(const ml_table *table, int64_t joint);

/* Position of a joint in its parent, metres; zeros where there is no such joint. The root's is the one
   in the skeleton's file, and no part of a pose: poses place the root by themselves.
   offset: (3) */
ML_API void ml_table_joint_offset(const ml_table *table, int64_t joint, double *offset);

/* ---- 3 Poses and single transitions -----------------------------------------------------------*/

/* The captured pose of a row, where it stands in its clip.
   root: (3)  quats: (n_joints, 4)  planted: (4) */
ML_API ml_status ml_table_pose(const ml_table *table, int64_t row, double *root, double *quats,
                               uint8_t *planted);

/* Positions and rotations of all joints of a pose in the world.
   root: (3)  quats, rotations: (n_joints, 4)  positions: (n_joints, 3) */
ML_API ml_status ml_table_world(const ml_table *table, const double *root, const double *quats,
                                double *positions, double *rotations);

/* Bytes of memory that the frames of a transition need. */
ML_API int64_t ml_frames_memory(const ml_table *table);

/* Prepare frames for transitions; `n_frames` is 0. The memory begins at a multiple of 16 bytes.
   memory: (n_memory) */
ML_API ml_status ml_frames_open(const ml_table *table, int64_t n_memory, uint8_t *memory,
                                ml_frames *frames);

/* Make a transition of ml_table_length frames from a row to another. It starts where the first row
   stands in its clip. Within a transition's length of a clip's end, the clip's last window is left;
   that near its start, the first window is arrived at. */
ML_API ml_status ml_table_transition(const ml_table *table, int64_t from_row, int64_t to_row,
                                     ml_frames *out);

/* Make a transition to the frame with a label that is reached most easily. */
ML_API ml_status ml_table_transition_to_label(const ml_table *table, int64_t from_row,
                                              int64_t label, ml_frames *out);

/* The pose of one of these frames.
   root: (3)  quats: (frames.n_joints, 4)  planted: (4) */
ML_API ml_status ml_frames_pose(const ml_frames *frames, int64_t frame, double *root, double *quats,
                                uint8_t *planted);

/* ---- 4 Live characters ------------------------------------------------------------------------
   A live character is a stream of frames: it plays the clips of its table one after another, and
   follows orders. Each ml_stream_step is one frame of ml_table_fps frames a second. */

/* Bytes of memory that a character needs. */
ML_API int64_t ml_stream_memory(const ml_table *table);

/* Open a character that starts at a row, where the row stands in its clip. The memory begins at a
   multiple of 16 bytes. Keep table and memory in their places as long as the character. The same
   memory may be opened again for another character.
   memory: (n_memory) */
ML_API ml_status ml_stream_open(const ml_table *table, int64_t row, int64_t n_memory,
                                uint8_t *memory, ml_stream *stream);

/* Place a character: the frame that it shows (before the first step, the one that it starts with) gets
   this heading, and its root stands over (x, z). It goes on from there. */
ML_API ml_status ml_stream_place(ml_stream *stream, double heading, double x, double z);

/* Orders. The last one counts. The same one again changes nothing, so a game may give it in every
   frame.
   - go: arrive at a row, or in any frame with a label, and play on.
   - hold: arrive in a label, and stay in frames that carry it. Where every piece of the label is shorter
     than ml_table_hold_frames the order is refused with ML_TOO_SHORT; such pieces of other labels are
     passed over. From the end of a piece a transition leads into the label again.
   - act: arrive at the first frame of a piece with a label, and play it to its last frame. After
     that the same order acts once more. */
ML_API ml_status ml_stream_go_to_row(ml_stream *stream, int64_t row);
ML_API ml_status ml_stream_go_to_label(ml_stream *stream, int64_t label);
ML_API ml_status ml_stream_hold_label(ml_stream *stream, int64_t label);
ML_API ml_status ml_stream_act_label(ml_stream *stream, int64_t label);

/* Set for how many seconds an order waits for a transition that passes the quality check: one step
   later the other foot stands. After that the transition that fails least is played. */
#define ML_STREAM_PATIENCE_S 2.0 /* of a character that is told nothing else */
ML_API ml_status ml_stream_set_patience(ml_stream *stream, double seconds);

/* The next frame. A step that fails changes nothing and forgets the order that it could not follow;
   only after ML_MISSING, which tables in files never give, the order is kept. Where its clip ends a
   character goes over into a captured motion that is like it.
   root: (3)  quats: (n_joints, 4)  planted: (4) */
ML_API ml_status ml_stream_step(ml_stream *stream, double *root, double *quats, uint8_t *planted);

/* Think about the next transition in up to `budget` pieces: a search, a choice of recipes, one
   transition made, one checked. A piece takes a fraction of a millisecond. Each step thinks one piece,
   so that a transition begins within a few steps. Call this after an order, or with time left in a
   frame, to see the order followed sooner. */
ML_API ml_status ml_stream_think(ml_stream *stream, int64_t budget);

/* What a character is doing. */
typedef enum {
    ML_STREAM_PLAYING = 0, /* it has no order: it plays its clip, and then one that continues it */
    ML_STREAM_GOING = 1,   /* it is on its way to the goal of its order */
    ML_STREAM_IN = 2,      /* in the held label, which at least half of the shown captured frames
                              carry, or in the acted piece */
    ML_STREAM_ARRIVED = 3, /* it has been where it was sent, and plays on */
    ML_STREAM_CONTINUING_BADLY = 4 /* its clip was over, and every transition to a motion like it
                                      fails the quality check: it plays the one that fails least */
} ml_stream_state;

/* What a character is doing: one of ml_stream_state. */
ML_API int32_t ml_stream_doing(const ml_stream *stream);

/* The row that is shown, or, in a transition, the row that it arrives at. Before the first step, the
   row that will be shown first. */
ML_API int64_t ml_stream_now(const ml_stream *stream);

/* 1 while a character is in a transition; 1 while that transition fails the quality check. */
ML_API uint8_t ml_stream_in_transition(const ml_stream *stream);
ML_API uint8_t ml_stream_is_flawed(const ml_stream *stream);

/* Frames until the transition arrives; 0 outside of one. */
ML_API int64_t ml_stream_frames_left(const ml_stream *stream);

/* Captured rows that one frame of a character is made of, at most. */
#define ML_MOST_SHARES 16

/* Captured rows that the last frame is made of, with the share of each, and how many there are: 0
   before the first step. `changed` is 0 where the frame is its row's own pose, moved over the ground.
   rows, weights: (16)  changed: (1) */
ML_API int64_t ml_stream_made_of(const ml_stream *stream, int64_t *rows, double *weights,
                                 uint8_t *changed);

/* ---- 5 A whole program ------------------------------------------------------------------------
   A character that runs while a button is pressed. `file` is what was read or mapped of lib.mlr, at a
   multiple of 8 bytes. malloc gives memory at a multiple of 16 bytes.

       ml_table table;
       int64_t n = ml_table_memory(n_bytes, file);
       if (n < 0) return (ml_status)-n;
       ml_status status = ml_table_open(n_bytes, file, n, malloc(n), &table);
       if (status) return status;

       ml_stream character;
       n = ml_stream_memory(&table);
       status = ml_stream_open(&table, ml_table_row(&table, 0, 0), n, malloc(n), &character);
       if (status) return status;
       ml_stream_place(&character, 0.0, 0.0, 0.0);

       int64_t run = ml_table_find_label(&table, -1, "run");
       int64_t idle = ml_table_find_label(&table, -1, "idle");
       double root[3], *quats = malloc(ml_table_n_joints(&table) * 4 * sizeof(double));
       uint8_t planted[4];
       while (is_running()) {                    ml_table_fps times a second
           status = ml_stream_hold_label(&character, is_pressed() ? run : idle);
           if (!status) status = ml_stream_step(&character, root, quats, planted);
           if (status) log(ml_status_text(status));
           show(root, quats);
       }

   At the end free the memory of the character, then that of the table, then the file. */

#ifdef __cplusplus
}
#endif

#endif
