// What a page knows, as the command writes it (src/story/page_data.cpp): exact figures, of bounded size.
//
// Times are nanoseconds since the trace began, sizes are bytes; both are exact as numbers (below 2^53). Names
// are kept once, in `names`, and others refer to them by their place there.

export interface Story {
  belay: string; // the version that made the page
  file: string;
  product: string;
  events: number;
  duration: number;
  started: string;
  remarks: string[]; // what could not be read, what was thinned
  names: string[];
  processes: Process[];
  series: Series[];
  main: number; // of the series: what the first look is for; -1: there is none
  moments: Moments;
  groups: Group[];
  blocks: Blocks;
  refusals: Refusal[];
  ranges: Ranges;
  lanes: Lane[];
  traffic: Traffic[];
}

export interface Process {
  pid: number;
  name: string;
  begin: number;
  end: number;
}

/** Memory of a device (or pinned memory of the host), by the kind of its pages: of one process, or of all. */
export interface Series {
  device: number; // -1: the host, pinned
  process: number; // in `processes`; -1: all of them
  limit: number; // 0: not known
  kinds: string[];
  times: number[]; // rising
  bytes: number[][]; // of each kind, from this time on. Where points were left out, the highest were kept
  peak: { time: number; bytes: number; moment: number };
}

/** States that the page knows exactly. All changes are among them if there are few, else the telling ones. */
export interface Moments {
  all: boolean; // every change of memory is a moment
  times: number[];
  words: [moment: number, words: string][]; // of those with a name: "the peak of device 0"
}

/** Blocks that were made at the same place in the same way. What they hold is told where it changes. */
export interface Group {
  process: number;
  device: number;
  name: number; // the label, or the innermost line of the program's own
  label: boolean;
  function: number; // what was called
  policy: number;
  kind: string;
  frames: number[];
  moment: number[]; // rising; between two the figures stay
  bytes: number[]; // that the device is charged
  asked: number[];
  count: number[];
  made: number;
  freed: number;
  temporary: number;
  peak: number;
}

/** The blocks that matter most, one in each place of the columns. */
export interface Blocks {
  all: boolean; // no block was left out
  group: number[];
  address: number[];
  asked: number[];
  bytes: number[];
  born: number[];
  died: number[]; // -1: never
  thread: number[];
  freed: number[]; // name of where it was freed; -1: it was not, or nobody noted it
  touches: number[]; // copies, fills and tasks that read or wrote it
}

export interface Refusal {
  time: number;
  process: number;
  moment: number;
  code: number;
  function: string;
  words: string;
}

/** Parts of the program that it named itself. */
export interface Ranges {
  name: number[];
  process: number[];
  thread: number[];
  depth: number[];
  begin: number[];
  end: number[];
}

/** A stream (or a thread, for what calls did before they returned), and what it did when. */
export interface Lane {
  process: number;
  device: number;
  title: string;
  what: number[]; // of `kWork`
  begin: number[];
  end: number[];
  bytes: number[];
  count: number[]; // tasks that were put together, because they are too short to be seen
  busy: number; // ns
  tasks: number;
}

export const kWork = ['copy to the device', 'copy to the host', 'copy on the device', 'other copy', 'fill', 'wait', 'function of the program', 'other'];

/** Bytes that moved in one direction, in equal parts of the whole time. */
export interface Traffic {
  title: string;
  bytes: number[];
  total: number;
}
