import type { Model, ModelNote } from "../model.ts";

/** What is known of the models beside the settings, by PROVIDER/MODEL. */
export function notesByModel({
  notes,
}: Pick<Model, "notes">): Record<string, Omit<ModelNote, "provider" | "model">[]> {
  // Names of models may be any text.
  const byModel = new Map<string, Omit<ModelNote, "provider" | "model">[]>();
  for (const { provider, model, ...note } of notes?.() ?? []) {
    const name = `${provider}/${model}`;
    byModel.set(name, [...(byModel.get(name) ?? []), note]);
  }
  return Object.fromEntries(byModel);
}
