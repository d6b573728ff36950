// Numbers for people: three digits, and the units of the program's own texts.

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0, size = Math.abs(value);
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${value < 0 ? "-" : ""}${unit === 0 ? Math.round(size) : digits(size)} ${units[unit]}`;
}

export const digits = (value: number): string =>
  value === 0 ? "0" : value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const t = Math.abs(value), sign = value < 0 ? "-" : "";
  if (t === 0) return "0 s";
  if (t < 1e-3) return `${sign}${digits(t * 1e6)} µs`;
  if (t < 1) return `${sign}${digits(t * 1e3)} ms`;
  if (t < 60) return `${sign}${digits(t)} s`;
  const two = (part: number) => String(part).padStart(2, "0");
  const whole = Math.round(t), minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${sign}${minutes}m${two(whole % 60)}s`;
  return `${sign}${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
}

// A place on the time axis: "0:42", "1:02:03"; tenths and less where `step` asks for them.
export function clock(t: number, step = 1): string {
  const places = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step)));
  const rounded = Number(Math.max(t, 0).toFixed(places));
  const two = (part: number) => String(part).padStart(2, "0");
  const rest = rounded % 60;
  const last = (rest < 10 ? "0" : "") + rest.toFixed(places);
  const minutes = Math.floor(rounded / 60);
  return minutes < 60 ? `${minutes}:${last}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${last}`;
}

// A change: "+12.5 %".
export const share = (part: number): string =>
  `${part < 0 ? "−" : "+"}${Number(Math.abs(part * 100).toPrecision(Math.abs(part) < 1 ? 3 : 4)).toFixed(Math.abs(part) < 1 ? 1 : 0)} %`;

export const count = (value: number, one: string, more = `${one}s`): string =>
  `${value.toLocaleString("en")} ${value === 1 ? one : more}`;

// A number of a decision, by the unit in its name; as report/numbers.cc of the program.
export function numberText(name: string, value: number): string {
  if (name.endsWith("_bytes_per_s")) return `${bytes(value)}/s`;
  if (name.endsWith("_byte_s")) return `${bytes(value)} × s`;
  if (name.endsWith("_bytes")) return bytes(value);
  if (name.endsWith("_ns")) return seconds(value / 1e9);
  if (name.endsWith("_s")) return seconds(value);
  if (name.endsWith("_percent")) return `${Number(value.toPrecision(3))} %`;
  if (name.endsWith("share") || name === "io_full") return `${Number((value * 100).toPrecision(3))} %`;
  if (name.startsWith("cores")) return String(Number(value.toFixed(2)));
  return String(Number(value.toPrecision(4)));
}
