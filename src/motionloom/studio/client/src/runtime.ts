// The wrapper of the core, which is also for pages of other people.

export * from "../../../../../runtimes/web/motionloom";
