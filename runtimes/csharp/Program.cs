// Plays a character of a table for ten seconds, and prints where it is every second:
//
//     mcs -out:play.exe MotionLoom.cs Program.cs
//     LD_LIBRARY_PATH=<folder of libmotionloom.so> mono play.exe lib.mlr running idle
//
// Every two seconds it holds the next of the labels, or, where none is named, to the next clip.
// With --poses FILE it also writes every number of every pose.

using System;
using System.Collections.Generic;
using System.IO;
using MotionLoom;

static class Program {
    const int Seconds = 10, EverySeconds = 2;

    static int Main(string[] given) {
        var words = new List<string>(given);
        int option = words.IndexOf("--poses");
        string path = option < 0 ? null : words[option + 1];
        if (path != null) words.RemoveRange(option, 2);
        try {
            if (words.Count == 0) throw new IOException("play.exe LIB.mlr [LABEL ...]");
            using (Stream poses = path == null ? Stream.Null : File.Create(path))
                Play(File.ReadAllBytes(words[0]), words.GetRange(1, words.Count - 1), poses);
            return 0;
        } catch (Exception error) when (error is MotionLoomException || error is IOException) {
            Console.Error.WriteLine("play: " + error.Message);
            return 1;
        }
    }

    static void Play(byte[] file, List<string> labels, Stream poses) {
        using (var table = new Table(file))
        using (var live = new Character(table, table.Row(0, 0))) {
            var pose = new Pose(table);
            var writer = new BinaryWriter(poses);
            int every = (int)(EverySeconds * table.Fps);
            live.Place(0.0, 0.0, 0.0);
            for (int frame = 0; frame < (int)(Seconds * table.Fps); frame++) {
                int goal = frame / every;
                if (frame % every == every / 2 && labels.Count > 0) {
                    live.Hold(table.FindLabel(labels[goal % labels.Count]));
                } else if (frame % every == every / 2) {
                    int clip = (1 + goal) % table.ClipCount;
                    live.GoToRow(table.Row(clip, table.ClipFrames(clip) / 2));
                }
                live.Step(pose);
                Write(writer, pose);
                if (frame % (int)table.Fps == 0)
                    Console.WriteLine("{0,3} s  {1,-12} frame {2,4}  {3,-15}  x {4,6:0.00}  z {5,6:0.00}",
                                      frame / (int)table.Fps, table.ClipName(table.RowClip(live.Now)),
                                      table.RowFrame(live.Now), live.Doing,
                                      pose.Root[0], pose.Root[2]);
            }
            writer.Flush();
        }
    }

    static void Write(BinaryWriter writer, Pose pose) {
        foreach (double value in pose.Root) writer.Write(value);
        foreach (double value in pose.Quats) writer.Write(value);
        writer.Write(pose.Planted);
    }
}
