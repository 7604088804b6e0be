/**
 * What a text means, as an embeddings model says it: a direction, of which each number is kept in one byte. That takes a quarter
 * of the memory, and the order of the nearest hardly changes.
 */
export type Vector = Int8Array;

const STEPS = 127;

export function vectorOf(numbers: readonly number[]): Vector {
  const length = Math.hypot(...numbers) || 1;
  const greatest = numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0) / length || 1;
  return Int8Array.from(numbers, (number) => Math.round((number / length / greatest) * STEPS));
}

/** The cosine of the angle between them, -1 to 1; 0 if they are of different models. */
export function nearness(one: Vector, other: Vector): number {
  if (one.length !== other.length) return 0;
  let [dot, ones, others] = [0, 0, 0];
  for (let nth = 0; nth < one.length; nth += 1) {
    const [a = 0, b = 0] = [one[nth], other[nth]];
    dot += a * b;
    ones += a * a;
    others += b * b;
  }
  return ones === 0 || others === 0 ? 0 : dot / Math.sqrt(ones * others);
}

export function vectorText(vector: Vector): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}

export function vectorFrom(text: string): Vector {
  return new Int8Array(Buffer.from(text, "base64"));
}
