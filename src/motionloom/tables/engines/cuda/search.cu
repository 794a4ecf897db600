// Search: every blend of a tile of pairs, a block for those that share most, a warp for each.

// What the blends of one block have in common.
struct Group {
  int source, target;
  int n;
  int first;      // window of the base besides source and target, -1 for none
  long long out;  // where the costs of its blends go
  int count;
  const int* added;  // one window for each blend, or two in a shortlist
  int stride;        // of them
};

ON_DEVICE const float* window_terms(const Job& job, int window) {
  return job.terms + (long long)window * N_TERMS * SLOTS;
}

ON_DEVICE const float* weights_of(const Job& job, int n, int slot) {
  return job.weights + (4 * (n - 1) + slot) * SLOTS;
}

// Blocks of a pair: one of two windows, one of three, then four windows by their second.
ON_DEVICE Group group_of(const Job& job, long long block) {
  Group group;
  const int a_pair = job.two + job.three + job.four;
  const long long pair = block / a_pair;
  int part = (int)(block % a_pair);
  const int source = (int)((job.first_pair + pair) / job.n_targets);
  const int target = (int)((job.first_pair + pair) % job.n_targets);
  group.source = job.sources[source], group.target = job.targets[target];
  group.first = -1;
  group.out = pair * job.n_blends;
  group.count = job.n_between;
  group.added = job.between;
  group.stride = 1;
  if (part < job.two) {
    group.n = 2;
    group.count = 1;
    // Nothing is added: a third window of two has no weight.
    group.added = job.sources + source;
  } else if (part < job.two + job.three) {
    group.n = 3;
    group.out += job.two;
  } else {
    part -= job.two + job.three;
    group.n = 4;
    group.out += job.two + job.three * job.n_between;
    if (job.n_short) {
      const long long coarse =
          (long long)job.coarse_sources[source] * job.n_coarse + job.coarse_targets[target];
      group.count = job.n_short;
      group.added = job.shortlist + 2 * coarse * job.n_short;
      group.stride = 2;
    } else {
      group.first = job.between[part];
      group.out += (long long)part * job.n_between;
    }
  }
  return group;
}

// Source, target and what else all blends of a group have, each with its weights.
ON_DEVICE void share_sums(const Job& job, const Group& group, float* base, int thread, int threads) {
  const float* a = window_terms(job, group.source);
  const float* b = window_terms(job, group.target);
  const float* c = window_terms(job, group.first < 0 ? group.source : group.first);
  const float* u = weights_of(job, group.n, 0);
  const float* v = weights_of(job, group.n, group.n - 1);
  const float* w = weights_of(job, group.n, 1);
  for (int i = thread; i < N_TERMS * SLOTS; i += threads) {
    const int t = i % SLOTS;
    float value = u[t] * a[i];
    if (group.n > 1) value += v[t] * b[i];
    if (group.first >= 0) value += w[t] * c[i];
    base[i] = value;
  }
}

// All columns that are needed of one blend, in every lane.
template <int ADDS>
ON_DEVICE void judge(const Job& job, const Blend<ADDS>& blend, Room& room, float* columns) {
  Frames own;
  Centre centre;
  float hz[FRAMES], hx[FRAMES];
  walk(blend, room, own);
  judge_feet(job, blend, room, own, columns);
  if (USES(17) || BALANCE) judge_travel(job, blend, room, own, centre, columns);
  if (POSTURES || BALANCE) judge_posture(job, blend, room, own, hz, hx, columns);
  if (BALANCE) judge_balance(job, blend, room, own, centre, hz, hx, columns);
}

ON_DEVICE float cost_of(const Job& job, const float* columns) {
  float cost = 0.0f;
#pragma unroll
  for (int c = 0; c < N_COLUMNS; c++) {
    if ((LINEARS >> c) & 1) cost += job.linear[c] * columns[c];
    if ((LOGS >> c) & 1) cost += job.log[c] * log1pf(most(0.0f, columns[c]));
  }
  return cost;
}

// The blend that a group and one or two added windows make; its windows are put into the room.
template <int ADDS>
ON_DEVICE Blend<ADDS> blend_of(const Job& job, const Group& group, const float* base,
                               const int* added, Room& room, int lane) {
  Blend<ADDS> blend;
  blend.base = base;
  blend.n = group.n, blend.lane = lane;
  int second = group.first, third = -1;
#pragma unroll
  for (int i = 0; i < ADDS; i++) {
    // Of two that are added the first is the second window; one alone is the last but one.
    const int slot = ADDS == 2 ? 1 + i : (group.n == 4 ? 2 : group.n == 3 ? 1 : group.n);
    if (slot == 1) second = added[i];
    if (slot == 2) third = added[i];
    blend.added[i] = window_terms(job, added[i]);
    const float* weights = weights_of(job, group.n, slot);
#pragma unroll
    for (int k = 0; k < FRAMES; k++) blend.share[i][k] = weights[LANES * k + lane];
  }
  meet();
  if (lane == 0) {
    room.ids[0] = group.source, room.ids[1] = second, room.ids[2] = third;
    room.ids[group.n - 1] = group.target;
  }
  meet();
  return blend;
}

template <int ADDS>
ON_DEVICE void judge_group(const Job& job, const Group& group, const float* base, Room& room,
                           int warp, int warps, int lane) {
  for (int i = warp; i < group.count; i += warps) {
    const int* added = group.added + (long long)group.stride * i;
    float cost = INFINITE;
    if (added[0] >= 0) {
      float columns[N_COLUMNS];
      const Blend<ADDS> blend = blend_of<ADDS>(job, group, base, added, room, lane);
      judge<ADDS>(job, blend, room, columns);
      cost = cost_of(job, columns);
    }
    if (lane == 0) job.out[group.out + i] = cost;
  }
}

// A recipe of its own, for all its columns.
ON_DEVICE Group group_of_recipe(const Job& job, long long block) {
  Group group;
  const int* recipe = job.recipes + 4 * block;
  group.n = 0;
  for (int i = 0; i < 4; i++) group.n += recipe[i] >= 0;
  group.source = recipe[0], group.target = recipe[group.n - 1];
  group.first = group.n == 4 ? recipe[1] : -1;
  group.added = recipe + (group.n == 4 ? 2 : group.n == 3 ? 1 : 0);
  group.out = block * N_COLUMNS;
  group.count = 1, group.stride = 1;
  return group;
}

ON_DEVICE void score_one(const Job& job, const Group& group, const float* base, Room& room,
                         int lane) {
  float columns[N_COLUMNS];
#pragma unroll
  for (int c = 0; c < N_COLUMNS; c++) columns[c] = 0.0f;
  judge<1>(job, blend_of<1>(job, group, base, group.added, room, lane), room, columns);
#pragma unroll
  for (int c = 0; c < N_COLUMNS; c++)
    if (lane == 0) job.out[group.out + c] = columns[c];
}

#ifdef __CUDACC__
extern "C" __global__ void __launch_bounds__(WARPS * 32, BLOCKS) search_tile(const Job job) {
  float* base = shared;
  Room& room = ((Room*)(base + N_TERMS * SLOTS))[threadIdx.x / 32];
  const Group group = group_of(job, blockIdx.x);
  share_sums(job, group, base, threadIdx.x, WARPS * 32);
  __syncthreads();
#if SHORT
  if (group.stride == 2)
    judge_group<2>(job, group, base, room, threadIdx.x / 32, WARPS, threadIdx.x % 32);
  else
#endif
    judge_group<1>(job, group, base, room, threadIdx.x / 32, WARPS, threadIdx.x % 32);
}

extern "C" __global__ void __launch_bounds__(32) score_recipes(const Job job) {
  float* base = shared;
  const Group group = group_of_recipe(job, blockIdx.x);
  share_sums(job, group, base, threadIdx.x, 32);
  __syncthreads();
  score_one(job, group, base, *(Room*)(base + N_TERMS * SLOTS), threadIdx.x);
}

extern "C" __global__ void sizes(int* out) { out[0] = sizeof(Job), out[1] = sizeof(Room); }
#else
extern "C" void search_tile(const Job* job, long long blocks) {
  float* base = (float*)malloc(sizeof(float) * N_TERMS * SLOTS);
  Room* room = (Room*)malloc(sizeof(Room));
  for (long long block = 0; block < blocks; block++) {
    const Group group = group_of(*job, block);
    share_sums(*job, group, base, 0, 1);
    if (group.stride == 2)
      judge_group<2>(*job, group, base, *room, 0, 1, 0);
    else
      judge_group<1>(*job, group, base, *room, 0, 1, 0);
  }
  free(room), free(base);
}

extern "C" void score_recipes(const Job* job, long long recipes) {
  float* base = (float*)malloc(sizeof(float) * N_TERMS * SLOTS);
  Room* room = (Room*)malloc(sizeof(Room));
  for (long long block = 0; block < recipes; block++) {
    const Group group = group_of_recipe(*job, block);
    share_sums(*job, group, base, 0, 1);
    score_one(*job, group, base, *room, 0);
  }
  free(room), free(base);
}

extern "C" void sizes(int* out) { out[0] = sizeof(Job), out[1] = sizeof(Room); }
#endif
