import { useState } from "preact/hooks";
import { PagedList } from "../lists/paged-list.tsx";
import { usePaged } from "../lists/paged.ts";
import { Empty } from "../parts/empty.tsx";
import { NewKey } from "../parts/new-key.tsx";
import { Question } from "../parts/question.tsx";
import { pathOf } from "../service/api.ts";
import type { OperatorView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { AddOperator } from "./add-operator.tsx";
import { EditOperator } from "./edit-operator.tsx";

type WithKey = OperatorView & { key: string };
type Asked = { type: "add" } | { type: "edit" | "remove" | "rotate"; operator: OperatorView };

/** Who looks after the service, and may see what. */
export function Operators() {
  const { api, me, tell } = useConsole();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [made, setMade] = useState<WithKey | null>(null);
  const paged = usePaged<OperatorView>(
    (cursor, signal) => api.list("/operators", { limit: 100, cursor }, signal),
    [],
  );
  const close = () => setAsked(null);
  const done = (operator: WithKey | null, text: string) => {
    close();
    setMade(operator);
    tell(text);
    paged.reload();
  };
  if (!mayOf(me).manageOperators) {
    return (
      <Titled title="Operators">
        <Empty title="Admins of the whole installation see the operators." />
      </Titled>
    );
  }
  return (
    <Titled
      title="Operators"
      fills
      actions={
        <button type="button" class="button main" onClick={() => setAsked({ type: "add" })}>
          Add an operator
        </button>
      }
    >
      <PagedList
        paged={paged}
        keyOf={({ name }) => name}
        label="Operators"
        empty={<Empty title="No operators." />}
      >
        {(operator, tabIndex) => (
          <div class="row plain">
            <span class="first">
              {operator.name}
              {operator.displayName !== undefined && <span class="quiet"> · {operator.displayName}</span>}
              {operator.name === me.name && <span class="quiet"> (you)</span>}
            </span>
            <span class="second">
              {operator.role}, {operator.channels === null ? "every channel" : operator.channels.join(", ")}
            </span>
            <span class="controls">
              <a
                class="button small"
                tabIndex={tabIndex}
                href={linkTo(["audit"], { operator: operator.name })}
              >
                Audit
              </a>
              <button
                type="button"
                class="button small"
                tabIndex={tabIndex}
                aria-label={`Edit ${operator.name}`}
                onClick={() => setAsked({ type: "edit", operator })}
              >
                Edit
              </button>
              <button
                type="button"
                class="button small"
                tabIndex={tabIndex}
                aria-label={`New key for ${operator.name}`}
                onClick={() => setAsked({ type: "rotate", operator })}
              >
                New key
              </button>
              <button
                type="button"
                class="button small bad"
                tabIndex={tabIndex}
                aria-label={`Remove ${operator.name}`}
                onClick={() => setAsked({ type: "remove", operator })}
              >
                Remove
              </button>
            </span>
          </div>
        )}
      </PagedList>
      {asked?.type === "add" && (
        <AddOperator onClose={close} onAdded={(added) => done(added, `${added.name} is an operator`)} />
      )}
      {asked?.type === "edit" && (
        <EditOperator
          operator={asked.operator}
          onClose={close}
          onChanged={() => done(null, `${asked.operator.name} is changed`)}
        />
      )}
      {asked?.type === "rotate" && (
        <Question
          title={`A new key for ${asked.operator.name}?`}
          yes="Make a new key"
          onClose={close}
          onYes={async () => {
            const rotated = await api.send<WithKey>(
              "POST",
              `${pathOf("operators", asked.operator.name)}/rotate`,
            );
            done(rotated, `${rotated.name} has a new key`);
          }}
        >
          <p>
            The key that is in use now ends at once.
            {asked.operator.name === me.name && " That is yours: you sign in again with the new one."}
          </p>
        </Question>
      )}
      {asked?.type === "remove" && (
        <Question
          title={`Remove ${asked.operator.name}?`}
          yes="Remove"
          onClose={close}
          onYes={async () => {
            await api.send("DELETE", pathOf("operators", asked.operator.name));
            done(null, `${asked.operator.name} is removed`);
          }}
        >
          <p>The key stops working at once. The audit keeps what this operator did.</p>
        </Question>
      )}
      {made && (
        <NewKey title={`The key of ${made.name}`} keys={[["Key", made.key]]} onClose={() => setMade(null)} />
      )}
    </Titled>
  );
}
