/** `<chat-agent>` in JSX of React 19. Where React is not installed nobody can write it, and this file declares nothing. */
import type { ChatAgent, ChatAgentAttributes, ChatAgentEventMap, ChatAgentProperties } from "./element.d.ts";
// @ts-ignore -- React need not be installed.
import type { ClassAttributes, HTMLAttributes } from "react";

/** React 19 listens for an event whose name follows `on`: `onchat-agent:done`. */
type Listeners = {
  [Name in keyof ChatAgentEventMap as `on${Name}`]?: (event: ChatAgentEventMap[Name]) => void;
};

/** React sets what is a property of the element as that, and everything else as an attribute. */
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
