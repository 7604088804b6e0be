/** `<chat-agent>` in JSX of React 19. If React is not installed, this file declares nothing. */
import type { ChatAgent, ChatAgentAttributes, ChatAgentEventMap, ChatAgentProperties } from "./element.d.ts";
// @ts-ignore -- React need not be installed.
import type { ClassAttributes, HTMLAttributes } from "react";

/** React 19 listens for the event named after `on`: `onchat-agent:done`. */
type Listeners = {
  [Name in keyof ChatAgentEventMap as `on${Name}`]?: (event: ChatAgentEventMap[Name]) => void;
};

/** React sets properties of the element as properties, and everything else as attributes. */
export interface ChatAgentReactProps
  extends
    Omit<HTMLAttributes<ChatAgent>, keyof ChatAgentAttributes | keyof ChatAgentProperties>,
    ClassAttributes<ChatAgent>,
    Omit<ChatAgentAttributes, keyof ChatAgentProperties>,
    Partial<ChatAgentProperties>,
    Listeners {}

// @ts-ignore -- React need not be installed.
declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "chat-agent": ChatAgentReactProps;
    }
  }
}
