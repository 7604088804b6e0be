/** What a shop's tool is for. */
export type ShopStep = "find" | "cart" | "address" | "submit" | "checkout";

/** As a shop's tool tells it; the price in euros. */
export interface Product {
  name: string;
  price: string;
}

/** The demo model's texts, in languages that it guesses by a few common words. */
export interface Phrases {
  /** Words that identify the language. */
  cues: RegExp;
  greeting: string;
  repeats: (text: string) => string;
  /** `tools`: their names, joined. */
  offers: (tools: string) => string;
  /** What a call does, and behind the bar what it has done. `tool`: its name in words. */
  progress: (tool: string) => string;
  /** For the tools of a shop. */
  shop: Readonly<Record<ShopStep, string>>;
  looksUp: string;
  result: (text: string) => string;
  costs: (product: Product) => string;
  /** Several products. */
  thereIs: (products: string) => string;
  /** Of one of several. */
  priced: (product: Product) => string;
  failed: (text: string) => string;
  cannot: (text: string) => string;
  /** The results lack what the user looked for. */
  onlyFound: (wanted: string, found: string) => string;
  /** The shop's documents say nothing of it. */
  notWritten: string;
  /** `images`: each one's type, size and colours. */
  sees: (images: string) => string;
}

const ENGLISH: Phrases = {
  cues: /\b(the|is|are|what|where|when|how|you|me|my|please|and|hello|find|buy|show)\b/g,
  greeting: "Hello! I am the demo model: no key of a real one is set, so I answer by simple rules.",
  repeats: (text) =>
    `This is the demo model; without a real one I can only repeat what I understood: “${text}”.`,
  offers: (tools) => `What I can do here: ${tools}.`,
  progress: (tool) => `Checking ${tool} … | Checked ${tool}`,
  shop: {
    find: "Searching the shop … | Searched the shop",
    cart: "Putting it into the cart … | Put it into the cart",
    address: "Filling in the address … | Filled in the address",
    submit: "Sending the form … | Sent the form",
    checkout: "Going to the checkout … | Went to the checkout",
  },
  looksUp: "Looking it up in the shop's documents … | Looked it up in the shop's documents",
  result: (text) => `This is what I found: ${text}`,
  costs: ({ name, price }) => `The ${name.toLowerCase()} costs ${price} euros.`,
  thereIs: (products) => `There is: ${products}.`,
  priced: ({ name, price }) => `${name} (${price} euros)`,
  failed: (text) => `That did not work: ${text}`,
  cannot: (text) => `The demo model has no tool for this: “${text}”.`,
  onlyFound: (wanted, found) => `I found no “${wanted}”. ${found}`,
  notWritten: "I found nothing about that in the shop's documents.",
  sees: (images) => `This is what I see (as the demo model, by its file alone): ${images}.`,
};

const ALL: readonly Phrases[] = [
  ENGLISH,
  {
    cues: /\b(der|die|das|und|ich|du|mir|mich|bitte|wo|wie|was|ist|ein|eine|einen|hallo|guten|zeig|kauf|kaufe|suche)\b/g,
    greeting:
      "Hallo! Ich bin das Demo-Modell: Kein Schlüssel ist gesetzt, also antworte ich nach einfachen Regeln.",
    repeats: (text) =>
      `Dies ist das Demo-Modell; ich kann nur wiederholen, was ich verstanden habe: „${text}“.`,
    offers: (tools) => `Was ich hier kann: ${tools}.`,
    progress: (tool) => `Wird geprüft: ${tool} … | Geprüft: ${tool}`,
    shop: {
      find: "Suche im Shop … | Im Shop gesucht",
      cart: "Lege es in den Warenkorb … | In den Warenkorb gelegt",
      address: "Trage die Adresse ein … | Adresse eingetragen",
      submit: "Sende das Formular ab … | Formular abgesendet",
      checkout: "Gehe zur Kasse … | Zur Kasse gegangen",
    },
    looksUp: "Sehe in den Unterlagen des Shops nach … | In den Unterlagen des Shops nachgesehen",
    result: (text) => `Das habe ich gefunden: ${text}`,
    costs: ({ name, price }) => `${name} kostet ${price} Euro.`,
    thereIs: (products) => `Es gibt: ${products}.`,
    priced: ({ name, price }) => `${name} (${price} Euro)`,
    failed: (text) => `Das hat nicht geklappt: ${text}`,
    cannot: (text) => `Das Demo-Modell hat dafür kein Werkzeug: „${text}“.`,
    onlyFound: (wanted, found) => `„${wanted}“ habe ich nicht gefunden. ${found}`,
    notWritten: "Dazu habe ich in den Unterlagen des Shops nichts gefunden.",
    sees: (images) => `Das sehe ich (als Demo-Modell, nur aus der Datei): ${images}.`,
  },
  {
    cues: /(\b(el|los|las|un|y|es|dónde|donde|cuándo|hola|buenos|busca|compra|muestra|quiero|mi|está)\b|[¿¡ñ])/g,
    greeting:
      "¡Hola! Soy el modelo de demostración: no hay ninguna clave, así que respondo con reglas sencillas.",
    repeats: (text) =>
      `Este es el modelo de demostración; solo puedo repetir lo que he entendido: «${text}».`,
    offers: (tools) => `Lo que puedo hacer aquí: ${tools}.`,
    progress: (tool) => `Consultando: ${tool} … | Consultado: ${tool}`,
    shop: {
      find: "Buscando en la tienda … | Buscado en la tienda",
      cart: "Añadiendo al carrito … | Añadido al carrito",
      address: "Rellenando la dirección … | Dirección rellenada",
      submit: "Enviando el formulario … | Formulario enviado",
      checkout: "Yendo a la caja … | En la caja",
    },
    looksUp: "Consultando los documentos de la tienda … | Consultados los documentos de la tienda",
    result: (text) => `Esto es lo que he encontrado: ${text}`,
    costs: ({ name, price }) => `${name} cuesta ${price} euros.`,
    thereIs: (products) => `Hay: ${products}.`,
    priced: ({ name, price }) => `${name} (${price} euros)`,
    failed: (text) => `No ha funcionado: ${text}`,
    cannot: (text) => `El modelo de demostración no tiene ninguna herramienta para esto: «${text}».`,
    onlyFound: (wanted, found) => `No he encontrado «${wanted}». ${found}`,
    notWritten: "No he encontrado nada sobre eso en los documentos de la tienda.",
    sees: (images) => `Esto es lo que veo (como modelo de demostración, solo por el archivo): ${images}.`,
  },
  {
    cues: /(\b(le|les|des|un|une|et|est|où|je|moi|bonjour|salut|cherche|trouve|quelle|heure|ma|mon)\b|achète|s'il)/g,
    greeting: "Bonjour ! Je suis le modèle de démonstration : sans clé, je réponds selon des règles simples.",
    repeats: (text) =>
      `Ceci est le modèle de démonstration ; je ne peux que répéter ce que j'ai compris : « ${text} ».`,
    offers: (tools) => `Ce que je peux faire ici : ${tools}.`,
    progress: (tool) => `Consultation : ${tool} … | Consulté : ${tool}`,
    shop: {
      find: "Recherche dans la boutique … | Cherché dans la boutique",
      cart: "Ajout au panier … | Ajouté au panier",
      address: "Saisie de l'adresse … | Adresse saisie",
      submit: "Envoi du formulaire … | Formulaire envoyé",
      checkout: "Passage à la caisse … | Passé à la caisse",
    },
    looksUp: "Recherche dans les documents de la boutique … | Cherché dans les documents de la boutique",
    result: (text) => `Voici ce que j'ai trouvé : ${text}`,
    costs: ({ name, price }) => `${name} coûte ${price} euros.`,
    thereIs: (products) => `Il y a : ${products}.`,
    priced: ({ name, price }) => `${name} (${price} euros)`,
    failed: (text) => `Cela n'a pas marché : ${text}`,
    cannot: (text) => `Le modèle de démonstration n'a pas d'outil pour cela : « ${text} ».`,
    onlyFound: (wanted, found) => `Je n'ai pas trouvé « ${wanted} ». ${found}`,
    notWritten: "Je n'ai rien trouvé à ce sujet dans les documents de la boutique.",
    sees: (images) =>
      `Voici ce que je vois (en modèle de démonstration, d'après le fichier seul) : ${images}.`,
  },
  {
    cues: /(\b(il|lo|gli|una|e|dove|che|ciao|buongiorno|cerca|trova|compra|mostrami|mio|sono|ore)\b|è)/g,
    greeting: "Ciao! Sono il modello dimostrativo: senza una chiave rispondo con regole semplici.",
    repeats: (text) =>
      `Questo è il modello dimostrativo; posso solo ripetere quello che ho capito: «${text}».`,
    offers: (tools) => `Quello che posso fare qui: ${tools}.`,
    progress: (tool) => `Controllo: ${tool} … | Controllato: ${tool}`,
    shop: {
      find: "Cerco nel negozio … | Cercato nel negozio",
      cart: "Metto nel carrello … | Messo nel carrello",
      address: "Inserisco l'indirizzo … | Indirizzo inserito",
      submit: "Invio il modulo … | Modulo inviato",
      checkout: "Vado alla cassa … | Alla cassa",
    },
    looksUp: "Ricerca nei documenti del negozio … | Cercato nei documenti del negozio",
    result: (text) => `Ecco che cosa ho trovato: ${text}`,
    costs: ({ name, price }) => `${name} costa ${price} euro.`,
    thereIs: (products) => `C'è: ${products}.`,
    priced: ({ name, price }) => `${name} (${price} euro)`,
    failed: (text) => `Non ha funzionato: ${text}`,
    cannot: (text) => `Il modello dimostrativo non ha uno strumento per questo: «${text}».`,
    onlyFound: (wanted, found) => `Non ho trovato «${wanted}». ${found}`,
    notWritten: "Non ho trovato nulla su questo nei documenti del negozio.",
    sees: (images) => `Ecco cosa vedo (come modello dimostrativo, solo dal file): ${images}.`,
  },
  {
    cues: /(\b(o|os|um|uma|e|onde|que|meu|minha|por favor|procure|compre|mostre|horas)\b|olá|está|ção|ã)/g,
    greeting: "Olá! Sou o modelo de demonstração: sem uma chave, respondo com regras simples.",
    repeats: (text) => `Este é o modelo de demonstração; só posso repetir o que entendi: “${text}”.`,
    offers: (tools) => `O que posso fazer aqui: ${tools}.`,
    progress: (tool) => `Consultando: ${tool} … | Consultado: ${tool}`,
    shop: {
      find: "Procurando na loja … | Procurado na loja",
      cart: "Colocando no carrinho … | Colocado no carrinho",
      address: "Preenchendo o endereço … | Endereço preenchido",
      submit: "Enviando o formulário … | Formulário enviado",
      checkout: "Indo para o caixa … | No caixa",
    },
    looksUp: "Consultando os documentos da loja … | Consultados os documentos da loja",
    result: (text) => `Isto foi o que encontrei: ${text}`,
    costs: ({ name, price }) => `${name} custa ${price} euros.`,
    thereIs: (products) => `Há: ${products}.`,
    priced: ({ name, price }) => `${name} (${price} euros)`,
    failed: (text) => `Não funcionou: ${text}`,
    cannot: (text) => `O modelo de demonstração não tem ferramenta para isto: “${text}”.`,
    onlyFound: (wanted, found) => `Não encontrei “${wanted}”. ${found}`,
    notWritten: "Não encontrei nada sobre isso nos documentos da loja.",
    sees: (images) => `É isto que vejo (como modelo de demonstração, só pelo arquivo): ${images}.`,
  },
];

/** The phrases of the language with the most cues in the text; English if no other has more. */
export function phrasesFor(userText: string): Phrases {
  const text = userText.toLowerCase();
  const count = ({ cues }: Phrases) => text.match(cues)?.length ?? 0;
  return ALL.reduce((best, each) => (count(each) > count(best) ? each : best), ENGLISH);
}
