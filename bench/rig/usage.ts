import { readFileSync, readdirSync } from "node:fs";

/** CPU time and memory of other processes, as Linux reports them. */
const TICKS_PER_SECOND = 100;

interface Stat {
  parent: number;
  cpuMs: number;
}

/** null: the process is gone. */
function statOf(pid: number): Stat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  // The name in parentheses may contain anything; the fields are counted after it, beginning with the state.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { parent: Number(fields[1]), cpuMs: (ticks * 1000) / TICKS_PER_SECOND };
}

/** CPU time that these processes have used so far, user and system, all threads. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (statOf(pid)?.cpuMs ?? 0), 0);
}

/** Memory in use (RSS), of all of them together. */
export function memoryMbOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + residentKb(pid), 0) / 1024;
}

function residentKb(pid: number): number {
  return kbIn(statusOf(pid), "VmRSS");
}

/** Memory in use by one process: its own, and pages of files that are mapped into it. */
export function residentMbOf(pid: number): { own: number; mapped: number } {
  const status = statusOf(pid);
  return { own: kbIn(status, "RssAnon") / 1024, mapped: kbIn(status, "RssFile") / 1024 };
}

function kbIn(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
}

/** Empty: the process is gone. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

/** A process and all its descendants. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
    if (stat) children.set(stat.parent, [...(children.get(stat.parent) ?? []), Number(name)]);
  }
  const family = [pid];
  for (const member of family) family.push(...(children.get(member) ?? []));
  return family;
}
