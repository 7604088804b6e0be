import { COMMAND_LINE } from "../../domain/people/operator.ts";
import type { Operator } from "../../domain/people/operator.ts";
import { Refusal } from "../../domain/refusal.ts";
import { messageOf } from "../../errors.ts";
import type { Handler } from "../../listener.ts";
import { createFindRoute } from "../find-route.ts";
import { refusalAnswer, textAnswer } from "../route.ts";
import type { OperatorApi } from "./operator-api.ts";
import { operatorRoutes } from "./routes.ts";

/** Whoever may use the store itself, under one shared name: only the machine knows which person ran the command. */
const COMMAND: Operator = { name: COMMAND_LINE, role: "admin", keyHash: "", channels: null };

/**
 * The operator API for the command line, without a key, whatever CONSOLE says. Outages and faults are told in words: the
 * caller is the owner of the installation.
 */
export function commandLineApi(api: Omit<OperatorApi, "admission">): Handler {
  const findRoute = createFindRoute(operatorRoutes({ ...api, admission: { admit: () => COMMAND } }));
  return async (request) => {
    const found = findRoute(request);
    if (found.type !== "found") return refusalAnswer(new Refusal("not-found"), "operator");
    try {
      return await found.route.handle({ request, params: found.params, traceparent: null, note() {} });
    } catch (error) {
      if (error instanceof Refusal && error.reason !== "unavailable") return refusalAnswer(error, "operator");
      return textAnswer(500, error instanceof Refusal ? error.text : messageOf(error));
    }
  };
}
