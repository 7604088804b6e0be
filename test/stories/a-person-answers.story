# The visitor asks for a person, who takes over and gives back. No model is called meanwhile.

channel shop {"handoff":{"enabled":true,"message":"A person comes.","waitSeconds":60}}

Ann visits shop

Ann asks for a person

Ann says "It is broken"
----
done, handled by person

operator takes Ann's conversation

operator tells Ann "I will send another one"

Ann says "Thank you"
----
done, handled by person

operator gives Ann's conversation back

Ann says "When does it come?"
model says "Tomorrow."
----
text "Tomorrow."
done

Ann reads the conversation
----
user: "It is broken"
Olga: "I will send another one"
user: "Thank you"
user: "When does it come?"
assistant: "Tomorrow."
