/* Plays a character of a table for ten seconds, and writes what it does as a BVH file:

       cc -std=c11 -O3 -ffp-contract=off motionloom.c play.c -lm -o play
       ./play lib.mlr out.bvh running idle

   Every two seconds it holds the next of the labels, or, where none is named, to the next
   clip. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "motionloom.h"

#define DEGREES 57.29577951308232

static void check(ml_status status, const char *what) {
    if (!status) return;
    fprintf(stderr, "play: %s: %s\n", what, ml_status_text(status));
    exit(1);
}

/* A joint and all below it: where it is in its parent, or, of a pose, its angles about Z, X, Y. */
static void write_joint(FILE *out, const ml_table *table, int64_t joint, const double *quats) {
    double at[3] = {0.0, 0.0, 0.0};
    int has_children = 0;
    if (quats) {
        double w = quats[4 * joint], x = quats[4 * joint + 1], y = quats[4 * joint + 2];
        double z = quats[4 * joint + 3], sine = fmax(-1.0, fmin(1.0, 2.0 * (y * z + w * x)));
        fprintf(out, " %.5f", DEGREES * atan2(2.0 * (w * z - x * y), 1.0 - 2.0 * (x * x + z * z)));
        fprintf(out, " %.5f", DEGREES * asin(sine));
        fprintf(out, " %.5f", DEGREES * atan2(2.0 * (w * y - x * z), 1.0 - 2.0 * (x * x + y * y)));
    } else {
        if (joint) ml_table_joint_offset(table, joint, at); /* the root is placed by every frame */
        fprintf(out, "%s %s\n{\nOFFSET %.6f %.6f %.6f\nCHANNELS %s Zrotation Xrotation Yrotation\n",
                joint ? "JOINT" : "ROOT", ml_table_joint_name(table, joint), at[0], at[1], at[2],
                joint ? "3" : "6 Xposition Yposition Zposition");
    }
    for (int64_t child = joint + 1; child < ml_table_n_joints(table); child++) {
        if (ml_table_joint_parent(table, child) != joint) continue;
        write_joint(out, table, child, quats);
        has_children = 1;
    }
    if (!quats) fputs(has_children ? "}\n" : "End Site\n{\nOFFSET 0 0 0\n}\n}\n", out);
}

int main(int n_words, char **words) {
    FILE *in = n_words > 2 ? fopen(words[1], "rb") : NULL, *out = in ? fopen(words[2], "w") : NULL;
    check(out ? ML_OK : ML_NOWHERE, "play FILE.mlr OUT.bvh [LABEL ...]");
    fseek(in, 0, SEEK_END);
    int64_t n_bytes = ftell(in);
    uint8_t *file = malloc((size_t)n_bytes);
    rewind(in);
    check(fread(file, 1, (size_t)n_bytes, in) == (size_t)n_bytes ? ML_OK : ML_DAMAGED, words[1]);

    ml_table table;
    int64_t n_memory = ml_table_memory(n_bytes, file);
    check(n_memory < 0 ? (ml_status)-n_memory : ML_OK, words[1]);
    check(ml_table_open(n_bytes, file, n_memory, malloc((size_t)n_memory), &table), words[1]);

    ml_stream live;
    n_memory = ml_stream_memory(&table);
    check(ml_stream_open(&table, 0, n_memory, malloc((size_t)n_memory), &live), "character");
    check(ml_stream_place(&live, 0.0, 0.0, 0.0), "place");

    double fps = ml_table_fps(&table), root[3];
    double *quats = malloc(sizeof(double) * 4 * (size_t)ml_table_n_joints(&table));
    uint8_t planted[4];
    int n_frames = (int)(10.0 * fps), every = (int)(2.0 * fps), n_labels = n_words - 3;
    fprintf(out, "HIERARCHY\n");
    write_joint(out, &table, 0, NULL);
    fprintf(out, "MOTION\nFrames: %d\nFrame Time: %.9f", n_frames, 1.0 / fps);
    for (int frame = 0; frame < n_frames; frame++) {
        int goal = frame / every;
        if (frame % every == every / 2 && n_labels) {
            const char *label = words[3 + goal % n_labels];
            int64_t number = ml_table_find_label(&table, -1, label);
            ml_status status = ml_stream_hold_label(&live, number);
            if (status == ML_TOO_SHORT)
                fprintf(stderr, "%s: its longest piece has %d frames of %d that are needed\n", label,
                        (int)ml_table_label_longest(&table, number),
                        (int)ml_table_hold_frames(&table));
            check(status, label);
        } else if (frame % every == every / 2) {
            int64_t clip = (1 + goal) % ml_table_n_clips(&table);
            int64_t middle = ml_table_clip_frames(&table, clip) / 2;
            check(ml_stream_go_to_row(&live, ml_table_row(&table, clip, middle)), "clip");
        }
        check(ml_stream_step(&live, root, quats, planted), "step");
        fprintf(out, "\n%.6f %.6f %.6f", root[0], root[1], root[2]);
        write_joint(out, &table, 0, quats);
    }
    fprintf(out, "\n");
    check(fclose(out) ? ML_BAD_SIZE : ML_OK, words[2]);
    return 0;
}
