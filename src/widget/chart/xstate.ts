/**
 * What a chart of machines/ takes from `xstate`, for the page's script: build.mjs puts this file in its place. XState itself
 * is larger than the whole widget. The result has the two fields of XState's machine that transition.ts reads.
 */
export function setup({ guards, actions }: { guards: object; actions: object }) {
  return {
    createMachine: (config: object) => ({ config, implementations: { guards, actions } }),
  };
}

export function assign(assignment: unknown): { assignment: unknown } {
  return { assignment };
}
