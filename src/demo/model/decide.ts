import type { ModelMessage, OfferedTool } from "../../model.ts";
import { SEARCH_KNOWLEDGE } from "../../domain/channels/knowledge.ts";
import { answerFrom } from "./answer-from.ts";
import { inventArguments } from "./invent-arguments.ts";
import { phrasesFor } from "./phrases.ts";
import type { Phrases, ShopStep } from "./phrases.ts";
import { sayResult } from "./say-result.ts";
import { see } from "./see.ts";

/**
 * How the demo model decides: by the words of `userText`, and always the same way. It takes one step per turn, and reads
 * its previous steps of this run from the messages after the last user's.
 */
export type DemoTurn =
  | { type: "text"; text: string }
  | { type: "call"; name: string; arguments: Record<string, unknown> };

const TASK_FAILED = "task_failed";
const HAND_OFF = "hand_off";
const OWN: ReadonlySet<string> = new Set([TASK_FAILED, HAND_OFF, SEARCH_KNOWLEDGE]);
/** How the agent marks a failed tool's result. */
const FAILURE = /^(The tool failed|Error)\b:?\s*/i;
const RESULT_CHARS = 600;

const FINDS = /search|find|browse/;
const FOUND_NOTHING = /^\W*(nothing|none|no (products?|results?|match))\b/i;

/** The tools of a shop's page, in the order of a purchase: a tool is found by its name, a wish by its words. */
const SHOP_STEPS: readonly { is: ShopStep; tool: RegExp; wish: RegExp }[] = [
  {
    is: "find",
    tool: FINDS,
    wish: /\b(search|find|show|look for|buy|order (me )?an?\b|suche|finde|zeig|kauf|busca|compra|muestra|cherche|trouve|cerca|trova|procure|compre)|achète/,
  },
  {
    is: "cart",
    tool: /(add|put).*(cart|basket|bag)/,
    wish: /\b(buy|order (me )?an?\b|cart|basket|kauf|warenkorb|compra|carrito|panier|carrello|compre|carrinho)|achète/,
  },
  {
    is: "address",
    tool: /(fill|enter|set).*(address|form)|address_form/,
    wish: /\b(check ?out|pay|address|adresse|kasse|bezahl|paga|direcci|commande[rz]?|payer|cassa|indirizzo|finaliz|endere)/,
  },
  {
    is: "submit",
    tool: /submit|confirm/,
    wish: /\b(check ?out|pay|address|adresse|kasse|bezahl|paga|direcci|commande[rz]?|payer|cassa|indirizzo|finaliz|endere|submit)/,
  },
  {
    is: "checkout",
    tool: /check_?out|\bpay|place_order/,
    wish: /\b(check ?out|pay|kasse|bezahl|paga|commande[rz]?|payer|cassa|finaliz)/,
  },
];

const GREETING =
  /^\W*(hi|hello|hey|hallo|guten|hola|buenos|bonjour|salut|ciao|buongiorno|olá|oi|bom dia)(?![\p{L}])/iu;
const ASKS_WHAT_IT_CAN =
  /\b(what|how) can you (do|help)|\bwas (kannst|können)|\bqué (puedes|puede)|\bque (peux|pouvez)|\bcosa (puoi|sai)|\bo que (você )?(pode|sabe)/i;
/** The wish to talk with a person, in the languages that the model speaks. */
const ASKS_FOR_PERSON =
  /\b(talk|speak|chat|connect me) (to|with) (an? |the |some )?(real |human )?(person|human|somebody|someone|agent|operator)\b|\bmit (einem|einer|dem) (echten )?(menschen|mitarbeiter|person)\b| (con|avec|à|com) (una|une|uma) (persona|personne|pessoa)\b/i;
const FAIL_ON_PURPOSE = /\bfail (the|this) task\b/i;
/** A question about the shop, rather than a wish. */
const ASKS_ABOUT =
  /^\W*(how|what|when|where|which|who|why|do|does|did|is|are|may|must|will|wie|was|wann|wo|welche[rsn]?|wer|warum|darf|muss|cómo|qué|cuándo|dónde|comment|quand|combien|come|quando|quanto|como|onde)(?![\p{L}])/iu;
/** The user wants something done, not only to talk. */
const REQUEST =
  /^\W*(please|bitte|por favor|can you|could you|fly|book|send|call|drive|delete|cancel|order|buy|make|transfer|bring|play|open|turn)\b|^\w+ (me|mir|mich|moi|mi)\b/i;

/** Words, and the word with the same meaning in tools' names. */
const MEANT: readonly [RegExp, string][] = [
  [/^(time|uhr|zeit|spät|hora|horas|heure|ora|ore)$/, "clock"],
  [/^(bestellung|pedido|commande|ordine|encomenda|parcel|package|paket)$/, "order"],
  [/^(weather|wetter|tiempo|météo|meteo)$/, "weather"],
];

const FILLER = new Set(
  (
    "a an the and or to for of in on at is are it me my i you we please can could would want need some do what where " +
    "when how with from this that then put into ship send check out checkout " +
    "pay buy find search show look cart basket add order " +
    "ein eine einen der die das und ich mir mich bitte zur zum kasse kauf kaufe suche finde zeig zeige warenkorb " +
    "un una el la los las y o por favor busca compra muestra quiero une le les des et moi cherche trouve " +
    "il lo gli e cerca trova os as um uma procure compre bezahle bezahlen pagar payer paga"
  ).split(" "),
);

/** One turn, for the messages and tools of a model request. */
export function decide(messages: readonly ModelMessage[], tools: readonly OfferedTool[]): DemoTurn {
  const lastOfUser = messages.findLastIndex((message) => message.role === "user");
  const userText = messages[lastOfUser]?.content.trim() ?? "";
  const phrases = phrasesFor(userText);
  const since = messages.slice(lastOfUser + 1);
  const results = since.flatMap((message) => (message.role === "tool" ? [message.content] : []));
  const called = new Set(
    since.flatMap((message) => (message.role === "assistant" ? message.calls : [])).map(({ name }) => name),
  );
  const useful = tools.filter(({ name }) => !OWN.has(name));
  const documents = tools.find(({ name }) => name === SEARCH_KNOWLEDGE);
  if (tools.some(({ name }) => name === HAND_OFF) && ASKS_FOR_PERSON.test(userText))
    return askForPerson(userText);

  const latest = results.at(-1);
  if (latest !== undefined && FAILURE.test(latest)) {
    return { type: "text", text: phrases.failed(shorten(latest.replace(FAILURE, ""))) };
  }
  if (useful.length > 0 && FAIL_ON_PURPOSE.test(userText)) return giveUp(userText, phrases);

  if (latest !== undefined && lastCalled(since) === SEARCH_KNOWLEDGE)
    return { type: "text", text: answerFrom(latest, userText) ?? phrases.notWritten };
  const seen = seenIn(messages[lastOfUser]);
  const asks =
    documents !== undefined &&
    seen.length === 0 &&
    ASKS_ABOUT.test(userText) &&
    !ASKS_WHAT_IT_CAN.test(userText);
  const tool = nextTool(userText, useful, { called, isWish: !asks });
  if (latest !== undefined && FINDS.test(lastCalled(since))) {
    const missed = missedIn(latest, words(userText));
    if (missed !== null)
      return {
        type: "text",
        text: phrases.onlyFound(missed, sayResult(shorten(latest), phrases, "several")),
      };
    if (FOUND_NOTHING.test(latest)) return { type: "text", text: sayResult(shorten(latest), phrases) };
  }
  if (tool) {
    const subject = words(userText)
      .filter((word) => !FILLER.has(word))
      .join(" ");
    const invented = inventArguments(tool.parameters, { userText, subject, results });
    return { type: "call", name: tool.name, arguments: { ...invented, ...progressFor(tool, phrases) } };
  }
  if (latest !== undefined) return { type: "text", text: sayResult(shorten(latest), phrases) };
  if (asks) {
    const looking = { query: userText, _progress: phrases.looksUp };
    return { type: "call", name: SEARCH_KNOWLEDGE, arguments: looking };
  }
  if (seen.length > 0) return { type: "text", text: phrases.sees(seen.join("; ")) };
  if (GREETING.test(userText) || ASKS_WHAT_IT_CAN.test(userText))
    return { type: "text", text: withOffers(phrases.greeting, useful, phrases) };
  if (useful.length > 0 && REQUEST.test(userText)) return giveUp(userText, phrases);
  return { type: "text", text: withOffers(phrases.repeats(shorten(userText)), useful, phrases) };
}

/** Descriptions of a message's images. */
function seenIn(message: ModelMessage | undefined): string[] {
  const images = message?.role === "user" ? (message.images ?? []) : [];
  return images.flatMap(({ url }) => (url === null ? [] : [see(url)]));
}

/** The tool that was called last, in lower case. */
function lastCalled(since: readonly ModelMessage[]): string {
  const calls = since.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  return calls.at(-1)?.name.toLowerCase() ?? "";
}

/** The next tool that the text asks for and that was not called yet: by its name, as a step of a purchase, or by its words. */
function nextTool(
  userText: string,
  tools: readonly OfferedTool[],
  { called, isWish }: { called: ReadonlySet<string>; isWish: boolean },
): OfferedTool | undefined {
  const text = userText.toLowerCase();
  const left = tools.filter(({ name }) => !called.has(name));
  const named = tools.filter(({ name }) => text.includes(name.toLowerCase()));
  if (named.length > 0) {
    return named
      .filter((tool) => left.includes(tool))
      .sort((a, b) => text.indexOf(a.name.toLowerCase()) - text.indexOf(b.name.toLowerCase()))[0];
  }
  const steps = isWish ? SHOP_STEPS.filter(({ wish }) => wish.test(text)) : [];
  const step = steps
    .map(({ tool }) => left.find(({ name }) => tool.test(name.toLowerCase())))
    .find((tool) => tool !== undefined);
  if (step) return step;
  // Only one tool is chosen by its words: a second would answer another question.
  if (called.size > 0) return undefined;
  const scored = left.map((tool) => ({ tool, score: likeness(words(userText), tool) }));
  return scored.filter(({ score }) => score >= 2).sort((a, b) => b.score - a.score)[0]?.tool;
}

/** "blue mug" if only a red one was found: the user's word before a found one; null if nothing is missing. */
function missedIn(found: string, userWords: readonly string[]): string | null {
  const text = found.toLowerCase();
  const at = userWords.findIndex(
    (word, nth) => !FILLER.has(word) && !text.includes(word) && isNamed(userWords[nth + 1]),
  );
  return at === -1 ? null : `${userWords[at]} ${userWords[at + 1]}`;

  function isNamed(word = ""): boolean {
    return !FILLER.has(word) && word.length > 2 && words(found).includes(word);
  }
}

/** Counts common words: two points for a word of the tool's name, one for a word of its description. */
function likeness(userWords: readonly string[], tool: OfferedTool): number {
  const wanted = new Set([
    ...userWords.filter((word) => !FILLER.has(word) || word === "order"),
    ...userWords.flatMap((word) => MEANT.flatMap(([alias, meant]) => (alias.test(word) ? [meant] : []))),
  ]);
  const name = new Set(words(tool.name));
  const description = new Set(words(tool.description));
  return [...wanted].reduce(
    (sum, word) => sum + (name.has(word) ? 2 : 0) + (description.has(word) ? 1 : 0),
    0,
  );
}

/** Lower-case words; `fooBar` and `foo_bar` are two. */
function words(text: string): string[] {
  const spaced = text.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.match(/[\p{L}\p{N}]+/gu) ?? [];
}

function giveUp(userText: string, phrases: Phrases): DemoTurn {
  return { type: "call", name: TASK_FAILED, arguments: { reason: phrases.cannot(shorten(userText)) } };
}

function askForPerson(userText: string): DemoTurn {
  const reason = "The visitor asks for a person.";
  return {
    type: "call",
    name: HAND_OFF,
    arguments: { reason, summary: `The visitor wrote: ${shorten(userText)}` },
  };
}

function progressFor(tool: OfferedTool, phrases: Phrases): Record<string, unknown> {
  const properties = tool.parameters["properties"];
  const takesProgress = typeof properties === "object" && properties !== null && "_progress" in properties;
  if (!takesProgress) return {};
  const step = SHOP_STEPS.find((one) => one.tool.test(tool.name.toLowerCase()));
  return { _progress: step ? phrases.shop[step.is] : phrases.progress(words(tool.name).join(" ")) };
}

function withOffers(text: string, tools: readonly OfferedTool[], phrases: Phrases): string {
  if (tools.length === 0) return text;
  return `${text} ${phrases.offers(
    tools
      .slice(0, 8)
      .map(({ name }) => words(name).join(" "))
      .join(", "),
  )}`;
}

function shorten(text: string): string {
  return text.length <= RESULT_CHARS ? text : `${text.slice(0, RESULT_CHARS)}…`;
}
