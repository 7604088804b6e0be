/** How many visitors said what they think of how a person helped, and their mean from 1 to 5; null: nobody did. */
export function csatOf(counts: Readonly<Record<string, number>>): { ratings: number; csat: number } | null {
  // Negative where one process counted what was said and another one, of the day before, what was taken back.
  const given = [1, 2, 3, 4, 5].map((score) => Math.max(0, counts[`csat.${score}`] ?? 0));
  const ratings = given.reduce((sum, count) => sum + count, 0);
  const sum = given.reduce((total, count, at) => total + count * (at + 1), 0);
  return ratings === 0 ? null : { ratings, csat: Math.round((sum / ratings) * 100) / 100 };
}
