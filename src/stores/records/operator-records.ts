import type { AuditEntry } from "../../domain/people/audit.ts";
import type {
  Operator,
  OperatorRole,
  OperatorSession,
  OperatorSignIn,
} from "../../domain/people/operator.ts";
import { isNumber, isObject, isText, kindOf, listOf, nullable, oneOf, optional, shape } from "../checks.ts";

/** What operators and audit entries must be when they are read back; both stores keep them as JSON. */

const isOperator = shape<Operator>({
  name: isText,
  displayName: optional(isText),
  picture: optional(isText),
  queues: optional(listOf(isText)),
  role: oneOf<OperatorRole>({ admin: true, agent: true, auditor: true }),
  keyHash: isText,
  channels: nullable(listOf(isText)),
  signIn: optional(
    shape<OperatorSignIn>({
      issuer: isText,
      subject: isText,
      sessions: listOf(shape<OperatorSession>({ keyHash: isText, endsAtMs: isNumber })),
    }),
  ),
});

const isAuditEntry = shape<AuditEntry>({
  atMs: isNumber,
  operator: isText,
  action: isText,
  target: isText,
  slug: nullable(isText),
  detail: optional(isObject),
});

export const operatorKind = kindOf("operator", isOperator);
export const auditKind = kindOf("entry of the audit", isAuditEntry);
