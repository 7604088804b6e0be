import type { Counts } from "../../stores/backup/records.ts";

/** For people: `1,234 threads, 20 users`. */
export function countsInWords({ users, threads, messages, tokens, channels }: Counts): string {
  const words = Object.entries({ channels, users, tokens, threads, messages });
  return words
    .map(([name, count]) => `${count.toLocaleString("en")} ${count === 1 ? name.slice(0, -1) : name}`)
    .join(", ");
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** `1.2 MB` */
export function bytesInWords(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  const number = bytes / 1000 ** power;
  return `${power === 0 || number >= 100 ? Math.round(number) : number.toFixed(1)} ${UNITS[power]}`;
}
