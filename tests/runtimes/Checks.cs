// What a program in C# may do wrong, and what it reads: run by test_csharp.py, ends at the first
// thing that is not as it should be.

using System;
using System.IO;
using System.Threading;
using MotionLoom;

static class Checks {
    static void Is(bool holds, string what) {
        if (!holds) throw new Exception(what);
    }

    static void Refused(Status status, Action action) {
        try {
            action();
        } catch (MotionLoomException error) {
            Is(error.Status == status && error.Message.Length > 20, "status " + error.Status);
            return;
        }
        throw new Exception("not refused: " + status);
    }

    static void Throws<T>(Action action) where T : Exception {
        try {
            action();
        } catch (T) {
            return;
        }
        throw new Exception("no " + typeof(T).Name);
    }

    static void Damage(byte[] file) {
        byte[] other = (byte[])file.Clone();
        other[8] ^= 7;
        Refused(Status.OtherVersion, () => new Table(other));
        other = (byte[])file.Clone();
        other[other.Length / 2] ^= 1;
        Refused(Status.Damaged, () => new Table(other));
        Refused(Status.Damaged, () => new Table(new byte[0]));
    }

    static void Names(Table table) {
        for (int joint = 0; joint < table.JointCount; joint++) {
            Is(table.FindJoint(table.JointName(joint)) == joint, "joint");
            Is(table.JointParent(joint) < joint, "parent");
            Is(table.JointOffset(joint).Length == 3, "offset");
        }
        for (int clip = 0; clip < table.ClipCount; clip++) {
            Is(table.FindClip(table.ClipName(clip)) == clip, "clip");
            long row = table.Row(clip, table.ClipFrames(clip) - 1);
            Is(table.RowClip(row) == clip && table.RowFrame(row) == table.ClipFrames(clip) - 1, "row");
            Is(table.Row(clip, table.ClipFrames(clip)) == -1, "no row");
        }
        for (int label = 0; label < table.LabelCount; label++)
            Is(table.FindLabel(table.LabelName(label)) == label, "label");
        Is(table.HoldFrames == table.Length / 2 + 1 && table.LabelLongest(99) == 0, "hold");
        Is(table.LabelLongest(2) == 5 && table.LabelLongest(1) == 161, "longest pieces");
        Is(table.LabelName(99) == "" && table.FindLabel("läuft nicht") == -1, "no label");
    }

    static void Poses(Table table) {
        var pose = new Pose(table);
        var positions = new double[3 * table.JointCount];
        var rotations = new double[4 * table.JointCount];
        table.ReadPose(40, pose);
        table.World(pose, positions, rotations);
        for (int k = 0; k < 3; k++) Is(positions[k] == pose.Root[k], "root");
        Refused(Status.Nowhere, () => table.ReadPose(-1, pose));
        Throws<ArgumentException>(() => table.World(pose, new double[3], rotations));
        using (var transition = new Transition(table)) {
            Refused(Status.Nowhere, () => transition.ReadPose(0, pose));
            transition.Make(40, 300);
            transition.ReadPose(table.Length - 1, pose);
            transition.MakeToLabel(40, 0);
            transition.ReadPose(0, pose);
            Refused(Status.Nowhere, () => transition.ReadPose(table.Length, pose));
            Refused(Status.Nowhere, () => transition.Make(-1, 300));
            Refused(Status.Nowhere, () => transition.MakeToLabel(40, 99));
        }
    }

    static void Lives(byte[] file) {
        var table = new Table(file);
        var pose = new Pose(table);
        var live = new Character(table, 20);
        Refused(Status.Nowhere, () => new Character(table, -1));
        Is(live.Now == 20 && !live.InTransition && live.Doing == Doing.Playing, "start");
        live.Step(pose);
        table.Dispose();  // its memory stays as long as the character does
        Throws<ObjectDisposedException>(() => table.Row(0, 0));
        Throws<ObjectDisposedException>(() => new Character(table, 0));
        for (int round = 0; round < 50; round++) new Table(file).Dispose();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Refused(Status.BadSize, () => live.SetPatience(-1.0));
        live.SetPatience(0.5);
        try {
            live.Hold(2);
            Is(false, "a label that is too short is held");
        } catch (MotionLoomException error) {
            Is(error.Status == Status.TooShort, "too short");
            Is(error.Message.StartsWith("label \"twitch\", whose longest piece that a transition arrives " +
                                        "in has 5 frames (0.08 s) of 16 (0.27 s)"), error.Message);
        }
        live.Hold(0);
        Is(live.Doing == Doing.Going && live.FramesLeft == 0, "going");
        live.Think(10);
        for (int frame = 0; frame < 100; frame++) live.Step(pose);
        Is(live.Now > 0 && live.Doing == Doing.In && !live.IsFlawed, "in");
        live.Act(1);
        Is(live.Doing == Doing.Going, "going to act");
        var rows = new long[Character.MostShares];
        var weights = new double[Character.MostShares];
        bool changed;
        int count = live.MadeOf(rows, weights, out changed);
        double sum = 0.0;
        for (int k = 0; k < count; k++) sum += weights[k];
        Is(count > 0 && Math.Abs(sum - 1.0) < 1e-9, "shares");
        Throws<ArgumentException>(() => live.MadeOf(new long[3], weights, out changed));
        int collections = GC.CollectionCount(0);
        for (int frame = 0; frame < 40000; frame++) live.Step(pose);
        Is(GC.CollectionCount(0) == collections, "a step makes garbage");
        live.Dispose();
        live.Dispose();
        Throws<ObjectDisposedException>(() => live.Step(pose));
        for (int round = 0; round < 20; round++) new Character(new Table(file), 0).Step(pose);
        GC.Collect();  // tables and characters that nobody disposed
        GC.WaitForPendingFinalizers();
    }

    static double[] Played(Table table) {
        var pose = new Pose(table);
        using (var live = new Character(table, 20)) {
            for (int frame = 0; frame < 300; frame++) {
                if (frame % 25 == 10) live.GoToRow(61 * frame % 1100);
                live.Step(pose);
            }
            return (double[])pose.Quats.Clone();
        }
    }

    static void Threads(Table table) {
        double[] alone = Played(table);
        var played = new double[4][];
        var threads = new Thread[4];
        for (int k = 0; k < 4; k++) {
            int number = k;
            Table own = table.Share();
            threads[k] = new Thread(() => played[number] = Played(own));
        }
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        foreach (double[] quats in played)
            for (int k = 0; k < quats.Length; k++) Is(quats[k] == alone[k], "threads");
    }

    static int Main(string[] words) {
        byte[] file = File.ReadAllBytes(words[0]);
        Damage(file);
        using (var table = new Table(file)) {
            Names(table);
            Poses(table);
            Threads(table);
        }
        Lives(file);
        Console.WriteLine("all is as it should be, version " + Table.Version);
        return 0;
    }
}
