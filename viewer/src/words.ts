// Figures in words, as the command spells them.

const kUnits: [number, string][] = [[2 ** 40, 'TB'], [2 ** 30, 'GB'], [2 ** 20, 'MB'], [2 ** 10, 'KB']];

/** "1 byte", "4 KB", "1.90 GB": exact where the unit divides the amount, two digits otherwise. */
export function amount(bytes: number): string {
  if (bytes === 1) return '1 byte';
  for (const [unit, name] of kUnits) {
    if (bytes < unit - unit / 204800) continue;
    return bytes % unit === 0 ? `${bytes / unit} ${name}` : `${(bytes / unit).toFixed(2)} ${name}`;
  }
  return `${bytes} bytes`;
}

export function exact(bytes: number): string {
  return bytes < 1024 ? amount(bytes) : `${bytes} bytes (${amount(bytes)})`;
}

/** "1.250 s", "12.5 ms", "3 µs": to about four digits. */
export function duration(ns: number): string {
  const pick = (value: number, unit: string) => `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ${unit}`;
  if (ns < 1000) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return pick(ns / 1e3, 'µs');
  if (ns < 1e9) return pick(ns / 1e6, 'ms');
  if (ns < 120e9) return pick(ns / 1e9, 's');
  return `${Math.floor(ns / 60e9)} min ${Math.round((ns / 1e9) % 60)} s`;
}

/** A moment, as fine as its neighbours in the picture ask for. */
export function clock(ns: number, step = 0): string {
  const seconds = ns / 1e9;
  if (step > 0) {
    // As many digits as it takes to tell steps apart, and to write them exactly if they are round.
    let digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / 1e9))));
    const isRound = (at: number) => Math.abs(((step / 1e9) * 10 ** at) % 1) < 1e-6;
    if (!isRound(digits) && digits < 9 && isRound(digits + 1)) digits++;
    return `${seconds.toFixed(digits)} s`;
  }
  return `${seconds.toFixed(seconds < 1 ? 6 : 3)} s`;
}

export function counted(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}

export function share(part: number, whole: number): string {
  if (whole === 0) return '0 %';
  const percent = (100 * part) / whole;
  return percent > 0 && percent < 0.1 ? 'under 0.1 %' : `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

export function hex(address: number): string {
  return `0x${address.toString(16)}`;
}

export function deviceName(device: number): string {
  return device < 0 ? 'host, pinned' : `device ${device}`;
}
