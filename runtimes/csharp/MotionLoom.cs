// motionloom in C#: transitions and live characters of a table that `motionloom table export` wrote.
//
//     using (var table = new Table(File.ReadAllBytes("lib.mlr")))
//     using (var live = new Character(table, table.Row(0, 0))) {
//         live.GoToLabel(table.FindLabel("running"));
//         live.Step(pose);  // table.Fps times a second
//     }
//
// It calls the C library (libmotionloom.so, libmotionloom.dylib, motionloom.dll), which allocates
// nothing: all memory is here, outside the garbage collector's, and nothing is allocated after
// the constructors. Metres, radians, right-handed, +Y up, quaternions (w, x, y, z); docs/runtime.md
// shows what becomes of them in Unity and Unreal. A table and its characters are for one thread at a
// time. What was disposed is refused; a table lives on as long as its characters.

using System;
using System.Runtime.InteropServices;
using System.Text;

namespace MotionLoom {

/// <summary>Why a function did nothing: the ml_status of motionloom.h.</summary>
public enum Status { Ok, BadSize, Missing, Damaged, Nowhere, OtherVersion, Unaligned, NotFinite, TooShort }

/// <summary>A status of the library that is not Ok.</summary>
public sealed class MotionLoomException : Exception {
    public Status Status { get; private set; }

    internal MotionLoomException(int status, string what)
        : base(what + ": " + Native.Text(Native.ml_status_text(status))) {
        Status = (Status)status;
    }
}

/// <summary>Memory for one frame of a character: make one, and let it be filled again.</summary>
public sealed class Pose {
    /// <summary>Where the root is. (3)</summary>
    public readonly double[] Root = new double[3];
    /// <summary>Rotations in the parent, (w, x, y, z) of each joint. (4 * joints)</summary>
    public readonly double[] Quats;
    /// <summary>1 for what stands: left heel, left ball, right heel, right ball. (4)</summary>
    public readonly byte[] Planted = new byte[4];

    public Pose(Table table) { Quats = new double[4 * table.JointCount]; }
}

/// <summary>A table with the poses of its clips.</summary>
public sealed class Table : IDisposable {
    private readonly Block block;
    private bool isDisposed;
    public readonly double Fps;
    /// <summary>Frames of a transition.</summary>
    public readonly int Length;
    public readonly int JointCount, ClipCount, LabelCount;

    /// <summary>Opens a file of `motionloom table export`, of which a copy is kept.</summary>
    public Table(byte[] file) : this(Opened(file)) {}

    private Table(Block opened) {
        block = opened;
        Fps = Native.ml_table_fps(Block);
        Length = (int)Native.ml_table_length(Block);
        JointCount = (int)Native.ml_table_n_joints(Block);
        ClipCount = (int)Native.ml_table_n_clips(Block);
        LabelCount = (int)Native.ml_table_n_labels(Block);
    }

    private static Block Opened(byte[] file) {
        using (var copy = new Block(file.Length)) {  // lives on by what keeps it
            Marshal.Copy(file, 0, copy.Start, file.Length);
            long size = Native.ml_table_memory(file.Length, copy.Start);
            if (size < 0) throw new MotionLoomException((int)-size, "table");
            var made = new Block(Native.ml_table_size(), size, copy);
            int status = Native.ml_table_open(file.Length, copy.Start, size, made.Memory, made);
            if (status != 0) made.Dispose();
            Native.Check(status, "table");
            return made;
        }
    }

    /// <summary>The same table for another thread, with characters of its own; what it plays from is
    /// shared.</summary>
    public Table Share() {
        long size = Native.ml_table_share_memory(Block);
        var made = new Block(Native.ml_table_size(), size, Block);
        int status = Native.ml_table_share(Block, size, made.Memory, made);
        if (status != 0) made.Dispose();
        Native.Check(status, "table");
        return new Table(made);
    }

    public void Dispose() {
        isDisposed = true;
        block.Dispose();
    }

    internal Block Block {  // which lives on behind characters, but not for new calls
        get {
            if (isDisposed) throw new ObjectDisposedException("Table");
            return block;
        }
    }

    /// <summary>Version of the library.</summary>
    public static string Version { get { return Native.Text(Native.ml_version()); } }

    /// <summary>A name, empty where there is none.</summary>
    public string JointName(int joint) { return Name(Native.ml_table_joint_name(Block, joint)); }
    public string ClipName(int clip) { return Name(Native.ml_table_clip_name(Block, clip)); }
    public string LabelName(int label) { return Name(Native.ml_table_label_name(Block, label)); }

    /// <summary>Frames of a label's longest piece, of those that transitions arrive in. A character can
    /// hold the label where they are at least <c>HoldFrames</c>.</summary>
    public int LabelLongest(int label) { return (int)Native.ml_table_label_longest(Block, label); }
    public int HoldFrames { get { return (int)Native.ml_table_hold_frames(Block); } }

    internal string Longest(int label) {  // in words, also after the table was disposed
        long longest = Native.ml_table_label_longest(block, label);
        long least = Native.ml_table_hold_frames(block);
        double fps = Native.ml_table_fps(block);
        return string.Format(System.Globalization.CultureInfo.InvariantCulture,
                             "label \"{0}\", whose longest piece that a transition arrives in has {1} " +
                             "frames ({2:0.00} s) of {3} ({4:0.00} s) that are needed",
                             Native.Text(Native.ml_table_label_name(block, label)), longest,
                             longest / fps, least, least / fps);
    }

    /// <summary>A number by its name, -1 where there is none.</summary>
    public int FindJoint(string name) {
        byte[] text = Encoding.UTF8.GetBytes(name);
        return (int)Native.ml_table_find_joint(Block, text.Length, text);
    }

    public int FindClip(string name) {
        byte[] text = Encoding.UTF8.GetBytes(name);
        return (int)Native.ml_table_find_clip(Block, text.Length, text);
    }

    public int FindLabel(string name) {
        byte[] text = Encoding.UTF8.GetBytes(name);
        return (int)Native.ml_table_find_label(Block, text.Length, text);
    }

    public int ClipFrames(int clip) { return (int)Native.ml_table_clip_frames(Block, clip); }

    /// <summary>The row of a clip's frame, by which frames are named; -1 where there is none.</summary>
    public long Row(int clip, int frame) { return Native.ml_table_row(Block, clip, frame); }
    public int RowClip(long row) { return (int)Native.ml_table_row_clip(Block, row); }
    public int RowFrame(long row) { return (int)Native.ml_table_row_frame(Block, row); }

    /// <summary>A joint's parent, before it in number; -1 for that of the root, joint 0.</summary>
    public int JointParent(int joint) { return (int)Native.ml_table_joint_parent(Block, joint); }

    /// <summary>Where a joint is in its parent. (3)</summary>
    public double[] JointOffset(int joint) {
        var offset = new double[3];
        Native.ml_table_joint_offset(Block, joint, offset);
        return offset;
    }

    /// <summary>The captured pose of a row.</summary>
    public void ReadPose(long row, Pose pose) {
        Fits(pose);
        Native.Check(Native.ml_table_pose(Block, row, pose.Root, pose.Quats, pose.Planted), "row");
    }

    /// <summary>Positions (3 * joints) and rotations (4 * joints) of a pose in the world.</summary>
    public void World(Pose pose, double[] positions, double[] rotations) {
        Fits(pose);
        if (positions.Length < 3 * JointCount || rotations.Length < 4 * JointCount)
            throw new ArgumentException("positions and rotations are for all joints");
        Native.Check(Native.ml_table_world(Block, pose.Root, pose.Quats, positions, rotations),
                     "pose");
    }

    internal void Fits(Pose pose) {
        if (pose.Quats.Length != 4 * JointCount)
            throw new ArgumentException("the pose is for another table", "pose");
    }

    private string Name(IntPtr text) {  // which lies in the file
        string name = Native.Text(text);
        GC.KeepAlive(this);
        return name;
    }
}

/// <summary>Memory for a transition: make one, and let it be filled again.</summary>
public sealed class Transition : IDisposable {
    private readonly Table table;
    private readonly Block block;

    public Transition(Table table) {
        this.table = table;
        long size = Native.ml_frames_memory(table.Block);
        block = new Block(Native.ml_frames_size(), size, null);
        Native.Check(Native.ml_frames_open(table.Block, size, block.Memory, block), "transition");
    }

    public void Dispose() { block.Dispose(); }

    /// <summary>A motion of table.Length frames from a row to a row, from where the first is in its
    /// clip.</summary>
    public void Make(long fromRow, long toRow) {
        Native.Check(Native.ml_table_transition(table.Block, fromRow, toRow, block), "rows");
    }

    /// <summary>The same to the frame with a label that is reached most easily.</summary>
    public void MakeToLabel(long fromRow, int label) {
        Native.Check(Native.ml_table_transition_to_label(table.Block, fromRow, label, block),
                     "label");
    }

    public void ReadPose(int frame, Pose pose) {
        table.Fits(pose);
        Native.Check(Native.ml_frames_pose(block, frame, pose.Root, pose.Quats, pose.Planted),
                     "frame");
    }
}

/// <summary>What a character is doing.</summary>
public enum Doing {
    /// <summary>It has no order: it plays its clip, and then one that continues it.</summary>
    Playing = 0,
    /// <summary>It is on its way to the goal of its order.</summary>
    Going = 1,
    /// <summary>It is in the label that it holds, and at least half of what the shown frame is made of
    /// carries it; or it is in the piece that it acts.</summary>
    In = 2,
    /// <summary>It has been where it was sent, and plays on.</summary>
    Arrived = 3,
    /// <summary>Its clip was over, and every transition to a motion like it fails the quality check:
    /// it plays the one that fails least.</summary>
    ContinuingBadly = 4,
}

/// <summary>A live character.</summary>
public sealed class Character : IDisposable {
    /// <summary>Captured rows that a frame is made of, at most.</summary>
    public const int MostShares = 16;
    private readonly Table table;
    private readonly Block block;

    /// <summary>A character that starts at a row.</summary>
    public Character(Table table, long row) {
        this.table = table;
        long size = Native.ml_stream_memory(table.Block);
        block = new Block(Native.ml_stream_size(), size, table.Block);
        int status = Native.ml_stream_open(table.Block, row, size, block.Memory, block);
        if (status != 0) block.Dispose();
        Native.Check(status, "row");
    }

    public void Dispose() { block.Dispose(); }

    /// <summary>Moves what is shown now; it goes on from there.</summary>
    public void Place(double heading, double x, double z) {
        Native.Check(Native.ml_stream_place(block, heading, x, z), "place");
    }

    // Orders: the last one counts, and the same one again changes nothing.

    /// <summary>Arrive at a row, and play on.</summary>
    public void GoToRow(long row) { Native.Check(Native.ml_stream_go_to_row(block, row), "row"); }

    /// <summary>Arrive in any frame with a label, and play on.</summary>
    public void GoToLabel(int label) {
        Native.Check(Native.ml_stream_go_to_label(block, label), "label");
    }

    /// <summary>Arrive in a label, and stay in frames that carry it. A label whose pieces are all
    /// shorter than <c>Table.HoldFrames</c> is refused.</summary>
    public void Hold(int label) {
        int status = Native.ml_stream_hold_label(block, label);
        Native.Check(status, status == (int)Status.TooShort ? table.Longest(label) : "label");
    }

    /// <summary>Arrive at the first frame of a piece with a label, and play it to its last one.
    /// After that the same order acts once more.</summary>
    public void Act(int label) {
        Native.Check(Native.ml_stream_act_label(block, label), "label");
    }

    /// <summary>Seconds that an order waits for a transition that passes the quality check: 2 at
    /// first. After that the transition that fails least is taken.</summary>
    public void SetPatience(double seconds) {
        Native.Check(Native.ml_stream_set_patience(block, seconds), "patience");
    }

    /// <summary>Thinks about the next transition now, in up to so many pieces. A step does one.
    /// </summary>
    public void Think(long budget) { Native.Check(Native.ml_stream_think(block, budget), "think"); }

    /// <summary>The next frame.</summary>
    public void Step(Pose pose) {
        table.Fits(pose);
        Native.Check(Native.ml_stream_step(block, pose.Root, pose.Quats, pose.Planted), "step");
    }

    /// <summary>The row that is shown, or where a transition arrives.</summary>
    public long Now { get { return Native.ml_stream_now(block); } }
    public Doing Doing { get { return (Doing)Native.ml_stream_doing(block); } }
    public bool InTransition { get { return Native.ml_stream_in_transition(block) != 0; } }

    /// <summary>Whether the transition that is played fails the quality check.</summary>
    public bool IsFlawed { get { return Native.ml_stream_is_flawed(block) != 0; } }

    /// <summary>Frames until a transition arrives, 0 outside of one.</summary>
    public long FramesLeft { get { return Native.ml_stream_frames_left(block); } }

    /// <summary>Captured rows that the frame shown last is made of, and the share of each; how many.
    /// Where it is not changed it is its row's own, moved over the ground.</summary>
    public int MadeOf(long[] rows, double[] weights, out bool changed) {
        if (rows.Length < MostShares || weights.Length < MostShares)
            throw new ArgumentException("Rows and weights must have room for 16 numbers each.");
        byte isChanged;
        int count = (int)Native.ml_stream_made_of(block, rows, weights, out isChanged);
        changed = isChanged != 0;
        return count;
    }
}

/// <summary>A struct of the library and its memory, in one piece; and what must live as long.
/// </summary>
internal sealed class Block : SafeHandle {
    private const int Multiple = 64;
    private readonly IntPtr allocated;
    private readonly Block kept;
    private readonly long memoryAt;

    internal Block(long bytes) : this(0, bytes, null) {}

    internal Block(long structBytes, long memoryBytes, Block keep) : base(IntPtr.Zero, true) {
        memoryAt = (structBytes + Multiple - 1) / Multiple * Multiple;
        if (keep != null) {
            bool added = false;
            keep.DangerousAddRef(ref added);
            kept = keep;
        }
        allocated = Marshal.AllocHGlobal(new IntPtr(memoryAt + memoryBytes + Multiple));
        SetHandle(new IntPtr((allocated.ToInt64() + Multiple - 1) / Multiple * Multiple));
    }

    internal IntPtr Start { get { return handle; } }
    internal IntPtr Memory { get { return new IntPtr(handle.ToInt64() + memoryAt); } }
    public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

    protected override bool ReleaseHandle() {
        Marshal.FreeHGlobal(allocated);
        if (kept != null) kept.DangerousRelease();
        return true;
    }
}

/// <summary>The functions of motionloom.h, in its order.</summary>
internal static class Native {
#if (UNITY_IOS || UNITY_WEBGL) && !UNITY_EDITOR
    private const string Library = "__Internal";
#else
    private const string Library = "motionloom";
#endif
    private const CallingConvention C = CallingConvention.Cdecl;

    internal static void Check(int status, string what) {
        if (status != 0) throw new MotionLoomException(status, what);
    }

    /// <summary>UTF-8 that ends in a 0.</summary>
    internal static string Text(IntPtr text) {
        int length = 0;
        while (Marshal.ReadByte(text, length) != 0) length++;
        var bytes = new byte[length];
        Marshal.Copy(text, bytes, 0, length);
        return Encoding.UTF8.GetString(bytes);
    }

    [DllImport(Library, CallingConvention = C)] internal static extern IntPtr ml_version();
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_version_number();
    [DllImport(Library, CallingConvention = C)] internal static extern IntPtr ml_status_text(int status);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_size();
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_stream_size();
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_frames_size();
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_memory(long bytes, IntPtr file);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_table_open(long bytes, IntPtr file, long size, IntPtr memory, Block table);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_share_memory(Block table);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_table_share(Block table, long size, IntPtr memory, Block shared);
    [DllImport(Library, CallingConvention = C)] internal static extern double ml_table_fps(Block table);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_length(Block table);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_n_joints(Block table);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_n_clips(Block table);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_n_labels(Block table);
    [DllImport(Library, CallingConvention = C)] internal static extern IntPtr ml_table_joint_name(Block table, long joint);
    [DllImport(Library, CallingConvention = C)] internal static extern IntPtr ml_table_clip_name(Block table, long clip);
    [DllImport(Library, CallingConvention = C)] internal static extern IntPtr ml_table_label_name(Block table, long label);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_find_joint(Block table, long bytes, byte[] name);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_find_clip(Block table, long bytes, byte[] name);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_find_label(Block table, long bytes, byte[] name);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_clip_frames(Block table, long clip);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_label_longest(Block table, long label);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_hold_frames(Block table);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_row(Block table, long clip, long frame);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_row_clip(Block table, long row);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_row_frame(Block table, long row);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_table_joint_parent(Block table, long joint);
    [DllImport(Library, CallingConvention = C)] internal static extern void ml_table_joint_offset(Block table, long joint, [Out] double[] offset);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_table_pose(Block table, long row, [Out] double[] root, [Out] double[] quats, [Out] byte[] planted);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_table_world(Block table, double[] root, double[] quats, [Out] double[] positions, [Out] double[] rotations);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_frames_memory(Block table);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_frames_open(Block table, long size, IntPtr memory, Block frames);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_table_transition(Block table, long fromRow, long toRow, Block frames);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_table_transition_to_label(Block table, long fromRow, long label, Block frames);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_frames_pose(Block frames, long frame, [Out] double[] root, [Out] double[] quats, [Out] byte[] planted);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_stream_memory(Block table);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_stream_open(Block table, long row, long size, IntPtr memory, Block stream);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_stream_place(Block stream, double heading, double x, double z);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_stream_go_to_row(Block stream, long row);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_stream_go_to_label(Block stream, long label);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_stream_hold_label(Block stream, long label);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_stream_act_label(Block stream, long label);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_stream_set_patience(Block stream, double seconds);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_stream_step(Block stream, [Out] double[] root, [Out] double[] quats, [Out] byte[] planted);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_stream_think(Block stream, long budget);
    [DllImport(Library, CallingConvention = C)] internal static extern int ml_stream_doing(Block stream);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_stream_now(Block stream);
    [DllImport(Library, CallingConvention = C)] internal static extern byte ml_stream_in_transition(Block stream);
    [DllImport(Library, CallingConvention = C)] internal static extern byte ml_stream_is_flawed(Block stream);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_stream_frames_left(Block stream);
    [DllImport(Library, CallingConvention = C)] internal static extern long ml_stream_made_of(Block stream, [Out] long[] rows, [Out] double[] weights, out byte changed);
}

}
