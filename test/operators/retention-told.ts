import type { RetentionProgress } from "../../src/operators/retention/retention-sweep.ts";

/** What a sweep has told of its progress. */
export function newTold() {
  const told = { deleted: {} as Record<string, number>, usersSeen: 0, overdueMs: Number.NaN };
  const progress: RetentionProgress = {
    deleted: (_slug, kind) => void (told.deleted[kind] = (told.deleted[kind] ?? 0) + 1),
    usersSeen: (_slug, count) => void (told.usersSeen += count),
    overdue: (_slug, ms) => void (told.overdueMs = ms),
  };
  return Object.assign(told, { progress });
}
