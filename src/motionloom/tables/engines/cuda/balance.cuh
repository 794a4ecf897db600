// Balance of a blend: its zero moment point over the plants it keeps, and how its posture moves.

#define BALANCE (USES(8) || USES(9) || USES(10) || USES(11) || USES(12) || USES(13) || USES(18))
#define POSTURES (USES(14) || USES(15) || USES(16))
#define ON_LINE_M2 1e-7f

// A lane's frames of the centre of mass smoothed, and of its acceleration.
struct Centre {
  float x0[FRAMES], y0[FRAMES], z0[FRAMES], x2[FRAMES], y2[FRAMES], z2[FRAMES];
  int begin, end;  // padded frames whose acceleration can be known
};

// A lane's frames of a series with those around them.
ON_DEVICE void around(const float* series, int lane, float* values) {
#pragma unroll
  for (int i = 0; i < FRAMES + 2 * HALF; i++) values[i] = series[FRAMES * lane + i];
}

ON_DEVICE float filtered(const float* taps, const float* values) {
  float value = 0.0f;
#pragma unroll
  for (int i = 0; i < N_TAPS; i++) value += taps[i] * values[i];
  return value;
}

// Value and second derivative of a series in a lane's frames; nonsense where it is not known.
ON_DEVICE void smooth(const Job& job, const float* series, int lane, float* value, float* bend) {
  float values[FRAMES + 2 * HALF];
  around(series, lane, values);
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    value[k] = BALANCE ? filtered(job.taps[0], values + k) : 0.0f;
    bend[k] = filtered(job.taps[2], values + k);
  }
}

// The column of the centre of mass: it needs no posture.
template <int ADDS>
ON_DEVICE void judge_travel(const Job& job, const Blend<ADDS>& blend, Room& room,
                            const Frames& own, Centre& centre, float* columns) {
  const int lane = blend.lane;
  const int lead = job.reach[2 * room.ids[0]];
  const int follow = job.reach[2 * room.ids[blend.n - 1] + 1];
  const int begin = PAD - lead + 1 + HALF, end = PAD + LENGTH + follow - 1 - HALF;
  centre.begin = begin > PAD ? begin : PAD;
  centre.end = end < PAD + LENGTH ? end : PAD + LENGTH;
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    const float x = blend.at(COM, k), z = blend.at(COM + 2, k);
    room.a[HALF + OWN(k)] = own.x[k] + own.c[k] * x + own.s[k] * z;
    room.b[HALF + OWN(k)] = own.z[k] - own.s[k] * x + own.c[k] * z;
    room.d[HALF + OWN(k)] = blend.at(COM + 1, k);
  }
  meet();
  smooth(job, room.a, lane, centre.x0, centre.x2);
  smooth(job, room.d, lane, centre.y0, centre.y2);
  smooth(job, room.b, lane, centre.z0, centre.z2);
  float peak = 0.0f;
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    const float x = centre.x2[k], y = centre.y2[k], z = centre.z2[k];
    if (OWN(k) >= centre.begin && OWN(k) < centre.end) peak = most(peak, x * x + y * y + z * z);
  }
  columns[17] = sqrtf(highest(peak));
  meet();
}

// Angular momentum about the centre of mass (z, x), and the columns of the posture's own motion.
template <int ADDS>
ON_DEVICE void judge_posture(const Job& job, const Blend<ADDS>& blend, Room& room,
                             const Frames& own, float* hz, float* hx, float* columns) {
  const int lane = blend.lane;
  float xy[FRAMES], zy[FRAMES], yx[FRAMES], yz[FRAMES];
#pragma unroll
  for (int k = 0; k < FRAMES; k++) xy[k] = zy[k] = yx[k] = yz[k] = 0.0f;
  float kept = 0.0f, moved = 0.0f, peak = 0.0f;
#pragma unroll UNROLL
  for (int g = 0; g < SEGMENTS; g++) {
    float bend = 0.0f, v[3][FRAMES + 2];
#pragma unroll
    for (int i = 0; i < 3; i++) {
#pragma unroll
      for (int k = 0; k < FRAMES; k++) v[i][k] = blend.at(POSTURE + i * SEGMENTS + g, k);
      v[i][FRAMES] = later(v[i][0], 1);
      v[i][FRAMES + 1] = USES(16) ? later(v[i][1 % FRAMES], 1 + 1 / FRAMES) : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < FRAMES; k++) {
      const float x = v[0][k], y = v[1][k], z = v[2][k];
      const float next_x = v[0][k + 1], next_y = v[1][k + 1], next_z = v[2][k + 1];
      if (BALANCE) {
        xy[k] += x * next_y, zy[k] += z * next_y;
        yx[k] += y * next_x, yz[k] += y * next_z;
      }
      const int t = OWN(k) - PAD;
      if (USES(14) && t >= 0 && t < LENGTH) kept += x * x + y * y + z * z;
      const float dx = next_x - x, dy = next_y - y, dz = next_z - z;
      if (USES(15) && t >= 0 && t < LENGTH - 1) moved += dx * dx + dy * dy + dz * dz;
      if (USES(16) && t >= 0 && t < LENGTH - 2) {
        const float ax = v[0][k + 2] - next_x - dx;
        const float ay = v[1][k + 2] - next_y - dy;
        const float az = v[2][k + 2] - next_z - dz;
        bend = most(bend, ax * ax + ay * ay + az * az);
      }
    }
    if (USES(16)) peak = most(peak, bend * job.inverse_masses[g]);
  }
  if (USES(14) || USES(15)) {
    float had = 0.0f, could = 0.0f;
#pragma unroll
    for (int k = 0; k < FRAMES; k++) {
      const int t = OWN(k);
      if (IN_WINDOW(t)) had += blend.at(POWER, k);
      if (USES(15) && t > PAD && t < PAD + LENGTH) could += blend.at(PACE, k);
    }
    columns[14] = sqrtf(most(0.0f, (sum(had) - sum(kept)) / LENGTH));
    if (USES(15)) columns[15] = sum(moved) / most(sum(could), 1e-12f);
  }
  if (USES(16)) columns[16] = sqrtf(highest(peak)) * job.fps * job.fps;
  if (!BALANCE) return;
  // Seen from the body of either frame, turned into the world; in a frame the mean of both sides.
  const float scale = 0.5f * job.fps;
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    const int next = OWN(k) + 1 < SLOTS ? OWN(k) + 1 : SLOTS - 1;
    const float c = room.c[next], s = room.s[next];
    hz[k] = scale * (own.c[k] * xy[k] + own.s[k] * zy[k] - c * yx[k] - s * yz[k]);
    hx[k] = scale * (own.c[k] * zy[k] - own.s[k] * xy[k] + s * yx[k] - c * yz[k]);
  }
  float last_z = earlier(hz[FRAMES - 1], 1), last_x = earlier(hx[FRAMES - 1], 1);
  if (lane == 0) last_z = last_x = 0.0f;
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    const float z = hz[k], x = hx[k];
    hz[k] += last_z, hx[k] += last_x;
    last_z = z, last_x = x;
    room.a[HALF + OWN(k)] = hz[k], room.b[HALF + OWN(k)] = hx[k];
  }
  meet();
}

// Distance of a point from the sole of one plant, metres.
ON_DEVICE float outside_sole(const float* plant, const float* sole, float x, float z) {
  const float dx = x - plant[0], dz = z - plant[1];
  const float along = dx * plant[2] + dz * plant[3], aside = dz * plant[2] - dx * plant[3];
  const float u = most(0.0f, most(-sole[0] - along, along - sole[1]));
  const float v = most(0.0f, fabsf(aside) - sole[2]);
  return sqrtf(u * u + v * v);
}

// Edges of the hull of the room's eight corners: bit 7 p + q stands for corner p to the q-th other.
// Corners in one line give the pieces of an edge besides the whole, which changes no distance.
ON_DEVICE Bits hull_edges(const Room& room, int lane) {
  Bits edges = 0;
#pragma unroll 1
  for (int round = 0; round * LANES < 56; round++) {
    const int edge = round * LANES + lane;
    const int p = edge < 56 ? edge / 7 : 0;
    const int q = edge < 56 ? edge % 7 + (edge % 7 >= p) : 1;
    const float px = room.corners[p][0], pz = room.corners[p][1];
    const float ex = room.corners[q][0] - px, ez = room.corners[q][1] - pz;
    bool hull = edge < 56 && ex * ex + ez * ez > ON_LINE_M2;
    for (int i = 0; i < 8; i++) {
      const float dx = room.corners[i][0] - px, dz = room.corners[i][1] - pz;
      hull = hull && ex * dz - ez * dx >= -ON_LINE_M2;
    }
    edges |= (Bits)which(hull) << (round * LANES);
  }
  return edges;
}

// Distance of a point from the hull, metres.
ON_DEVICE float outside_hull(const Room& room, Bits edges, float x, float z) {
  float square = FAR;
  bool inside = true;
#pragma unroll 1
  while (edges) {
    const int edge = lowest(edges);
    edges &= edges - 1;
    const int p = edge / 7, q = edge % 7 + (edge % 7 >= p);
    const float px = room.corners[p][0], pz = room.corners[p][1];
    const float ex = room.corners[q][0] - px, ez = room.corners[q][1] - pz;
    const float dx = x - px, dz = z - pz;
    if (ex * dz - ez * dx >= 0.0f) continue;
    inside = false;
    const float u = least(1.0f, most(0.0f, (ex * dx + ez * dz) / (ex * ex + ez * ez)));
    const float ax = dx - u * ex, az = dz - u * ez;
    square = least(square, ax * ax + az * az);
  }
  return inside ? 0.0f : sqrtf(square);
}

// Whether a plant stands within some frames of one.
ON_DEVICE bool near_plant(const Room& room, const Frames& own, int t, int roll) {
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < (int)OF_FOOT(own.accepted, s); i++)
      if (t >= room.held[s][i][0] - roll && t <= room.held[s][i][1] + roll) return true;
  return false;
}

// 95th percentile of the count values in room.d that are not negative; they are overwritten.
ON_DEVICE float high_percentile(Room& room, int count, int lane) {
  const double place = 0.95 * (count - 1);
  const int below = (int)place;
  float low = 0.0f, high = 0.0f;
  for (int i = 0; i < count - below; i++) {
    float best = -1.0f;
    int at = 0;
    for (int t = lane; t < SLOTS; t += LANES)
      if (room.d[t] > best) best = room.d[t], at = t;
    const float top = highest(best);
    // Of lanes that hold it, one gives it up.
    const unsigned holders = which(best == top);
    if ((holders & (0u - holders)) == (1u << lane)) room.d[at] = -1.0f;
    high = low, low = top;
    meet();
  }
  if (count - below == 1) high = low;
  return low + (float)(place - below) * (high - low);
}

// Zero moment points of a lane's frames, into x0 and z0.
ON_DEVICE void find_moment_points(const Job& job, const Room& room, int lane, Centre& centre) {
  float values[FRAMES + 2 * HALF];
  around(room.a, lane, values);
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    const float gained = filtered(job.taps[1], values + k) - centre.y0[k] * centre.x2[k];
    centre.x0[k] += gained / (centre.y2[k] + GRAVITY);
  }
  around(room.b, lane, values);
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    const float gained = filtered(job.taps[1], values + k) - centre.y0[k] * centre.z2[k];
    centre.z0[k] += gained / (centre.y2[k] + GRAVITY);
  }
}

// Distances outside the hull in frames on both feet whose point is in the room, not FAR away.
// Frames are dealt out anew: all lanes work on one hull.
ON_DEVICE void measure_hulls(const Job& job, Room& room, const Frames& own, int lane,
                             float* furthest, float* total) {
#pragma unroll 1
  for (int i = 0; i < (int)OF_FOOT(own.accepted, 0); i++) {
#pragma unroll 1
    for (int j = 0; j < (int)OF_FOOT(own.accepted, 1); j++) {
      int begin = room.held[0][i][0], end = room.held[0][i][1];
      if (room.held[1][j][0] > begin) begin = room.held[1][j][0];
      if (room.held[1][j][1] < end) end = room.held[1][j][1];
      bool wanted = false;
      for (int t = PAD + begin + lane; t <= PAD + end; t += LANES) wanted |= room.a[t] < FAR;
      if (which(wanted) == 0) continue;
      for (int c = lane; c < 8; c += LANES) {
        const float* plant = c < 4 ? room.chosen[0][i] : room.chosen[1][j];
        const float along = c & 2 ? job.sole[1] : -job.sole[0];
        const float aside = c & 1 ? job.sole[2] : -job.sole[2];
        room.corners[c][0] = plant[0] + along * plant[2] - aside * plant[3];
        room.corners[c][1] = plant[1] + along * plant[3] + aside * plant[2];
      }
      meet();
      const Bits edges = hull_edges(room, lane);
      for (int t = PAD + begin + lane; t <= PAD + end; t += LANES) {
        if (room.a[t] >= FAR) continue;
        const float gap = outside_hull(room, edges, room.a[t], room.b[t]);
        if (USES(9)) room.d[t] = gap;
        *furthest = most(*furthest, gap);
        *total += gap;
      }
      meet();
    }
  }
}

// How far the body is from free fall in some padded frames: weight carried, momentum gained.
ON_DEVICE float judge_fall(const Job& job, const Centre& centre, const float* hz, const float* hx,
                           int lane, int begin, int end) {
  float carried = 0.0f, mean_z = 0.0f, mean_x = 0.0f, gained = 0.0f;
  const float n = end > begin ? end - begin : 1;
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    if (OWN(k) < begin || OWN(k) >= end) continue;
    carried += fabsf(centre.y2[k] + GRAVITY) / GRAVITY;
    mean_z += hz[k], mean_x += hx[k];
  }
  carried = sum(carried) / n, mean_z = sum(mean_z) / n, mean_x = sum(mean_x) / n;
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    if (OWN(k) < begin || OWN(k) >= end) continue;
    const float z = hz[k] - mean_z, x = hx[k] - mean_x;
    gained = most(gained, sqrtf(z * z + x * x));
  }
  const float tall = job.sole[3];
  return carried + highest(gained) / (tall * sqrtf(GRAVITY * tall));
}

// The columns of balance.
template <int ADDS>
ON_DEVICE void judge_balance(const Job& job, const Blend<ADDS>& blend, Room& room,
                             const Frames& own, Centre& centre, const float* hz, const float* hx,
                             float* columns) {
  const int lane = blend.lane;
  find_moment_points(job, room, lane, centre);
  float furthest = 0.0f, total = 0.0f, gaps[FRAMES], bound[FRAMES];
  int scored = 0, bare = 0, unsupported = 0;
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    const int t = OWN(k);
    gaps[k] = -1.0f, bound[k] = 0.0f;
    if (t < centre.begin || t >= centre.end) continue;
    if (centre.y2[k] < (FLIGHT_LOAD - 1.0f) * GRAVITY) continue;
    const unsigned left = OF_FOOT(own.label[k], 0), right = OF_FOOT(own.label[k], 1);
    if (own.label[k] == 0) {
      bare++;
      if (USES(12)) unsupported += !near_plant(room, own, t - PAD, job.roll);
      continue;
    }
    scored++;
    gaps[k] = 0.0f;
    float gap = FAR;
    if (left) gap = outside_sole(room.chosen[0][left - 1], job.sole, centre.x0[k], centre.z0[k]);
    if (right) {
      const float* plant = room.chosen[1][right - 1];
      gap = least(gap, outside_sole(plant, job.sole, centre.x0[k], centre.z0[k]));
    }
    if (left && right) {
      // The hull of both is no farther than either.
      bound[k] = gap;
      continue;
    }
    gaps[k] = gap;
    furthest = most(furthest, gap);
    total += gap;
  }
  // Where only the furthest counts, frames that cannot be further are left out.
  const float known = USES(9) || USES(10) ? 0.0f : highest(furthest);
  meet();
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    room.a[OWN(k)] = bound[k] > known ? centre.x0[k] : FAR;
    room.b[OWN(k)] = centre.z0[k];
    if (USES(9)) room.d[OWN(k)] = gaps[k];
  }
  meet();
  measure_hulls(job, room, own, lane, &furthest, &total);
  columns[8] = highest(furthest) / INCH;
  if (USES(9) || USES(10) || USES(11)) scored = sum(scored);
  if (USES(9)) columns[9] = high_percentile(room, scored, lane) / INCH;
  if (USES(10)) columns[10] = sum(total) / (INCH * (scored > 1 ? scored : 1));
  columns[11] = scored;
  if (USES(12)) columns[12] = sum(unsupported);
  if (USES(13)) columns[13] = sum(bare);
  columns[18] = 0.0f;
  if (!USES(18)) return;
  if (own.planted == 0) {
    columns[18] = judge_fall(job, centre, hz, hx, lane, centre.begin, centre.end);
    return;
  }
  // Flights between plants: as long as the core has them, and as far from plants and both ends.
  meet();
#pragma unroll
  for (int k = 0; k < FRAMES; k++) {
    const int t = OWN(k) - PAD;
    const bool inside = OWN(k) >= centre.begin && OWN(k) < centre.end && t >= job.roll &&
                        t < LENGTH - job.roll && blend.at(LIFT, k) > job.low + 0.02f &&
                        blend.at(LIFT + 1, k) > job.low + 0.02f;
    room.a[OWN(k)] = inside && !near_plant(room, own, t, job.roll) ? 1.0f : 0.0f;
  }
  meet();
  const int shortest = (int)(0.12 * (double)job.fps + 0.5);
  float worst = 0.0f;
  int begin = -1;
#pragma unroll 1
  for (int t = PAD; t <= PAD + LENGTH; t++) {
    const bool free = t < PAD + LENGTH && room.a[t] > 0.0f;
    if (free && begin < 0) begin = t;
    if (free || begin < 0) continue;
    if (t - begin >= shortest) worst = most(worst, judge_fall(job, centre, hz, hx, lane, begin, t));
    begin = -1;
  }
  columns[18] = worst;
  meet();
}
