/**
 * Stored data changes its form by small pure steps, one from each version to the next; version 1 is that of release 0.1.0.
 *
 * A reader upgrades an older form by all steps that it lacks. A writer takes the present form back as far as the steps
 * allow: a record that uses nothing new is written in the oldest form, so that instances of several versions can run side by
 * side, and a downgrade is possible.
 */
export interface Step<Form> {
  /** From the version before to this one. */
  up: (older: Form) => Form;
  /** Back; null if the form uses something that only this version has. Without this function no form goes back. */
  down?: (newer: Form) => Form | null;
}

export interface Versions<Form> {
  /** The present version. */
  readonly present: number;
  /** `from`: at least 1, at most the present version. */
  upgrade(form: Form, from: number): Form;
  /** The form to write, and its version. */
  oldest(form: Form): { form: Form; version: number };
}

/** `steps`: the first leads from version 1 to version 2. */
export function versionsOf<Form>(steps: readonly Step<Form>[]): Versions<Form> {
  const present = steps.length + 1;
  return {
    present,

    upgrade: (form, from) => steps.slice(from - 1).reduce((older, step) => step.up(older), form),

    oldest(form) {
      let written = form;
      for (let version = present; version > 1; version--) {
        const older = steps[version - 2]?.down?.(written) ?? null;
        if (older === null) return { form: written, version };
        written = older;
      }
      return { form: written, version: 1 };
    },
  };
}

export function isVersion(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
}
