# A bot's users and threads have the bot's own ids; one user's thread is not another's.

channel bot {"kind":"transport"}

bot: ada in chat-1 says "Hello"
model says "Good morning."
----
text "Good morning."
done

bot: ben in chat-1 says "What did she say?"
----
text "You said: What did she say?"
done

bot reads chat-1 of ada
----
user: "Hello"
assistant: "Good morning."

bot reads chat-1 of ben
----
user: "What did she say?"
assistant: "You said: What did she say?"
