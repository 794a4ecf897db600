// Feet of a blend: where they go, which plants are kept, and how far they miss them.

// Every window's plants of one foot: where the blend puts them, and how far its ball misses.
template <int ADDS>
ON_DEVICE int candidates(const Job& job, const Blend<ADDS>& blend, const Frames& own,
                         const float* fx, const float* fz, int s, Room& room) {
  const int lane = blend.lane;
  int count = 0;
#pragma unroll 1
  for (int i = 0; i < blend.n; i++) {
    const int window = room.ids[i];
    const int there = job.counts[2 * window + s];
    if (there == 0) continue;
    const float* ax = job.anchors + (4 * window + 2 * s) * SLOTS + lane;
    float wx[FRAMES], wz[FRAMES];
#pragma unroll
    for (int k = 0; k < FRAMES; k++) {
      const float x = ax[LANES * k], z = ax[SLOTS + LANES * k];
      wx[k] = own.x[k] + own.c[k] * x + own.s[k] * z;
      wz[k] = own.z[k] - own.s[k] * x + own.c[k] * z;
    }
#pragma unroll 1
    for (int p = 0; p < there; p++) {
      const int place = (2 * window + s) * PLANTS + p;
      const int first = job.spans[2 * place], last = job.spans[2 * place + 1];
      const float share = 1.0f / (last - first + 1);
      float x = 0.0f, z = 0.0f, error = 0.0f;
#pragma unroll
      for (int k = 0; k < FRAMES; k++) {
        const int t = OWN(k) - PAD;
        if (t >= first && t <= last) x += wx[k], z += wz[k];
      }
      sum_both(&x, &z, lane);
      x *= share, z *= share;
#pragma unroll
      for (int k = 0; k < FRAMES; k++) {
        const int t = OWN(k) - PAD;
        const float dx = fx[k] - x, dz = fz[k] - z;
        if (t >= first && t <= last) error += sqrtf(dx * dx + dz * dz);
      }
      error = sum(error) * share;
      if (lane == 0) {
        room.plants[count][0] = error, room.plants[count][1] = x, room.plants[count][2] = z;
        room.spans[count][0] = first, room.spans[count][1] = last;
        room.spans[count][2] = place, room.spans[count][3] = 1;
      }
      count++;
    }
  }
  meet();
  return count;
}

// The undecided candidate of the least error, -1 for none; ties by start, then by window.
ON_DEVICE int best_plant(const Room& room, int count, int lane) {
  const unsigned none = 0xffffffffu;
  unsigned error = none, key = none;
  for (int i = lane; i < count; i += LANES) {
    // Errors are not negative: their bits rise as they do.
    const unsigned e = room.spans[i][3] ? bits_of(room.plants[i][0]) : none;
    const unsigned k = (unsigned)room.spans[i][0] << 16 | i;
    if (e < error || (e == error && k < key)) error = e, key = k;
  }
  const unsigned least = lowest_of(error);
  if (least == none) return -1;
  return (int)(lowest_of(error == least ? key : none) & 0xffffu);
}

// Frames, of both feet, in which the ball stands in some of the windows and not in others.
template <int ADDS>
ON_DEVICE float frames_apart(const Job& job, const Blend<ADDS>& blend, const Room& room) {
  int apart = 0;
  for (int w = blend.lane; w < 2 * WORDS; w += LANES) {
    const unsigned a = job.stands[2 * WORDS * room.ids[0] + w];
    const unsigned b = job.stands[2 * WORDS * room.ids[1 % blend.n] + w];
    const unsigned c = job.stands[2 * WORDS * room.ids[2 % blend.n] + w];
    const unsigned d = job.stands[2 * WORDS * room.ids[blend.n - 1] + w];
    apart += ones((a | b | c | d) & ~(a & b & c & d));
  }
  return (float)sum(apart);
}

// The first eight columns. Candidates are taken by rising error where their frames are free.
template <int ADDS>
ON_DEVICE void judge_feet(const Job& job, const Blend<ADDS>& blend, Room& room, Frames& own,
                          float* columns) {
  const int lane = blend.lane;
  if (USES(7)) columns[7] = root_spread(job, blend);
  float total = 0.0f, worst = 0.0f, slid = 0.0f, low_slid = 0.0f, low = 0.0f, doubt = 0.0f;
  int planted = 0, steps = 0;
  // Not unrolled, here and elsewhere: warps in different places share the instructions in the cache.
#pragma unroll 1
  for (int s = 0; s < 2; s++) {
    float fx[FRAMES], fz[FRAMES], speed[FRAMES];
#pragma unroll
    for (int k = 0; k < FRAMES; k++) {
      const float x = blend.at(FEET + 2 * s, k), z = blend.at(FEET + 2 * s + 1, k);
      fx[k] = own.x[k] + own.c[k] * x + own.s[k] * z;
      fz[k] = own.z[k] - own.s[k] * x + own.c[k] * z;
    }
    float last_x = earlier(fx[FRAMES - 1], 1), last_z = earlier(fz[FRAMES - 1], 1);
#pragma unroll
    for (int k = 0; k < FRAMES; k++) {
      const int t = OWN(k);
      const float dx = fx[k] - last_x, dz = fz[k] - last_z;
      last_x = fx[k], last_z = fz[k];
      const bool moves = t > PAD && t < PAD + LENGTH;
      speed[k] = moves && (USES(3) || USES(4)) ? sqrtf(dx * dx + dz * dz) : 0.0f;
      if (USES(4) && moves && blend.at(LIFT + s, k) < job.low) low_slid += speed[k], low += 1.0f;
      if (USES(6) && IN_WINDOW(t)) {
        const float stands = blend.at(STANDS + s, k);
        doubt += stands * (1.0f - stands);
      }
      if (s == 0) own.label[k] = 0;
    }
    const int count = candidates(job, blend, own, fx, fz, s, room);
    int accepted = 0;
    for (int best; (best = best_plant(room, count, lane)) >= 0; accepted++) {
      const int first = room.spans[best][0], last = room.spans[best][1];
      const float error = room.plants[best][0];
      meet();
      for (int i = lane; i < count; i += LANES)
        if (room.spans[i][0] <= last && room.spans[i][1] >= first) room.spans[i][3] = 0;
      if (lane == 0) {
        const int middle = PAD + (first + last) / 2, place = room.spans[best][2];
        const float turn_c = room.c[middle], turn_s = room.s[middle];
        const float dx = job.ahead[2 * place], dz = job.ahead[2 * place + 1];
        float* plant = room.chosen[s][accepted];
        plant[0] = room.plants[best][1], plant[1] = room.plants[best][2];
        plant[2] = turn_c * dx + turn_s * dz, plant[3] = turn_c * dz - turn_s * dx;
        room.held[s][accepted][0] = first, room.held[s][accepted][1] = last;
      }
#pragma unroll
      for (int k = 0; k < FRAMES; k++) {
        const int t = OWN(k) - PAD;
        if (t >= first && t <= last) {
          own.label[k] |= (unsigned)(accepted + 1) << (16 * s);
          if (t > first) slid += speed[k];
        }
      }
      total += error * (last - first + 1);
      worst = most(worst, error);
      planted += last - first + 1;
      steps += last - first;
      meet();
    }
    own.accepted = (s == 0 ? 0u : own.accepted) | (unsigned)accepted << (16 * s);
  }
  own.planted = planted;
  columns[0] = total / ((planted > 1 ? planted : 1) * INCH);
  columns[1] = worst / INCH;
  columns[2] = planted;
  if (USES(3)) columns[3] = sum(slid) * job.fps / (steps > 1 ? steps : 1);
  if (USES(4)) columns[4] = sum(low_slid) * job.fps / most(sum(low), 1.0f);
  if (USES(5)) columns[5] = frames_apart(job, blend, room);
  if (USES(6)) columns[6] = 4.0f * sum(doubt);
}
