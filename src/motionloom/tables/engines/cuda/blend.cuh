// Blend: what is searched, and the way of a blend's body over the ground.

// Rows of a window's terms, as in window_terms.py; the posture follows them: x of all segments, y, z.
#define HEADING 0
#define STEP 1
#define FEET 3
#define COM 7
#define STANDS 10
#define LIFT 12
#define POWER 14
#define PACE 15
#define TRAVEL 16
#define POSTURE 17
#define WORDS ((LENGTH + 31) / 32)
#define N_TERMS (POSTURE + 3 * SEGMENTS)

struct Job {
  // Of all windows; where frames come last, frame FRAMES * lane + k is at LANES * k + lane.
  const float* terms;    // (W, N_TERMS, SLOTS)
  const float* anchors;  // (W, 4, SLOTS)
  const float* ahead;    // (W, 2, PLANTS, 2)
  const float* weights;  // (4, 4, SLOTS)
  const int* spans;      // (W, 2, PLANTS, 2)
  const int* counts;     // (W, 2)
  const int* reach;      // (W, 2)
  const unsigned* stands;  // (W, 2, WORDS) a bit for each frame of the window
  // What is searched: pairs from first_pair on, and for each the blends of 2, 3 and 4 windows.
  const int* sources;    // (S,)
  const int* targets;    // (T,)
  const int* between;    // (K,)
  const int* shortlist;  // (A, B, n_short, 2), -1 for none
  const int* coarse_sources;  // (S,)
  const int* coarse_targets;  // (T,)
  const int* recipes;    // or these instead, (n, 4), -1 for none
  float* out;            // costs (pairs, n_blends), or columns (n, N_COLUMNS)
  long long first_pair;
  int n_targets, n_between, n_short, n_coarse, n_blends;
  int two, three, four;  // whether, and how many blocks a pair has for them
  int roll;
  float fps, low;
  float sole[4];
  float taps[3][N_TAPS];
  float inverse_masses[SEGMENTS];
  float linear[N_COLUMNS], log[N_COLUMNS];
};

// Room of one warp, frames in their order.
struct Room {
  float c[SLOTS], s[SLOTS], x[SLOTS], z[SLOTS];  // turn and place of the body
  float a[SERIES], b[SERIES], d[SERIES];         // series from frame -HALF on, filtered across lanes
  float plants[MOST_PLANTS][3];                  // candidates of one foot: error, place
  int spans[MOST_PLANTS][4];                     // first and last frame, which, 1 while undecided
  float chosen[2][MOST_PLANTS][4];               // place and direction
  int held[2][MOST_PLANTS][2];                   // first and last frame
  float corners[8][2];
  int ids[4];  // windows of the blend
};

// A blend: sums that many share, and the windows that only this one has.
template <int ADDS>
struct Blend {
  const float* base;
  const float* added[ADDS];
  float share[ADDS][FRAMES];
  int n, lane;

  ON_MEMBER float at(int row, int k) const {
    int place = row * SLOTS + k * LANES + lane;
#ifdef __CUDACC__
    float value = shared[place];  // where the base is; named, it needs no look at its kind of memory
#else
    float value = base[place];
#endif
#pragma unroll
    for (int i = 0; i < ADDS; i++) value += share[i][k] * added[i][place];
    return value;
  }
};

// What a lane knows of its own frames.
struct Frames {
  float c[FRAMES], s[FRAMES], x[FRAMES], z[FRAMES];
  unsigned label[FRAMES];  // accepted plants: 1 + left, 1 + right << 16, 0 for none
  unsigned accepted;       // how many, likewise
  int planted;
};

#define OF_FOOT(both, s) (((both) >> (16 * (s))) & 0xffffu)

#define OWN(k) (FRAMES * lane + (k))
#define IN_WINDOW(t) ((t) >= PAD && (t) < PAD + LENGTH)

// Turn and place of the body from its blended steps.
template <int ADDS>
ON_DEVICE void walk(const Blend<ADDS>& blend, Room& room, Frames& own) {
  const int lane = blend.lane;
  float angle[FRAMES], run = 0.0f;
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    run += OWN(k) > 0 ? blend.at(HEADING, k) : 0.0f;
    angle[k] = run;
  }
  const float turn = before(run, lane);
#pragma unroll
  for (int k = 0; k < FRAMES; k++) turned(turn + angle[k], &own.c[k], &own.s[k]);
  float c = earlier(own.c[FRAMES - 1], 1), s = earlier(own.s[FRAMES - 1], 1);
  float x = 0.0f, z = 0.0f;
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    if (OWN(k) > 0) {
      const float dx = blend.at(STEP, k), dz = blend.at(STEP + 1, k);
      x += c * dx + s * dz;
      z += c * dz - s * dx;
    }
    own.x[k] = x, own.z[k] = z;
    c = own.c[k], s = own.s[k];
  }
  const float from_x = before(x, lane), from_z = before(z, lane);
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    own.x[k] += from_x, own.z[k] += from_z;
    const int t = OWN(k);
    room.c[t] = own.c[k], room.s[t] = own.s[k], room.x[t] = own.x[k], room.z[t] = own.z[k];
  }
  meet();
}

// How much the windows' roots differ in velocity, m/s.
template <int ADDS>
ON_DEVICE float root_spread(const Job& job, const Blend<ADDS>& blend) {
  const int lane = blend.lane;
  float had = 0.0f, kept = 0.0f;
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    if (!IN_WINDOW(OWN(k))) continue;
    const float arc = TURN_M * blend.at(HEADING, k);
    const float dx = blend.at(STEP, k), dz = blend.at(STEP + 1, k);
    had += blend.at(TRAVEL, k);
    kept += arc * arc + dx * dx + dz * dz;
  }
  had = sum(had), kept = sum(kept);
  return sqrtf(most(0.0f, (had - kept * job.fps * job.fps) / LENGTH));
}
