import type { AnyStateMachine } from "xstate";

/**
 * A chart as code that needs `xstate` alone: what Stately's editor imports (Code panel, Import). Guards and actions are
 * names, and fixed parameters stay; code is left out, so it has the chart's states and transitions, and decides nothing.
 */
export function codeOf(machine: AnyStateMachine): string {
  return `import { createMachine } from "xstate";

export const ${machine.id}Machine = createMachine(${JSON.stringify(machine.config, null, 2)});
`;
}
