import { assign, setup } from "xstate";

/**
 * A visitor token: a browser's only credential (the spec, Visitor token).
 *
 * It begins anonymous, may be bound to one account, and ends when it has not been used for its lifetime. A use changes
 * nothing that must be saved: the lifetime is the expiry of the stored key, which each read extends, and when the key
 * expires the chart is gone with it. Binding again to the same account changes nothing; binding to another account is
 * refused by leaving the snapshot unchanged (V2).
 */
export const VISITOR_CHART_VERSION = 1;

export interface VisitorContext {
  /** Version of this chart that wrote the snapshot. */
  version: number;
  /** The account's id in the caller's system; null while anonymous. */
  externalId: string | null;
}

export type VisitorEvent = { type: "token.used" } | { type: "visitor.identified"; externalId: string };

export const visitorMachine = setup({
  // Casts: this is how XState takes types; the values are never read.
  types: {
    context: {} as VisitorContext,
    events: {} as VisitorEvent,
  },
  actions: {
    bindToAccount: assign({
      externalId: ({ context, event }) =>
        event.type === "visitor.identified" ? event.externalId : context.externalId,
    }),
  },
}).createMachine({
  id: "visitor",
  context: { version: VISITOR_CHART_VERSION, externalId: null },
  initial: "valid",
  states: {
    valid: {
      initial: "anonymous",
      on: {
        "token.used": {},
      },
      states: {
        anonymous: {
          on: { "visitor.identified": { target: "identified", actions: "bindToAccount" } },
        },
        identified: {},
      },
    },
  },
});
