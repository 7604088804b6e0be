import JSZip from "jszip";

/** The least of a PDF: a page with a line of text, and a title. */
export function pdfOf(line: string, title: string): Uint8Array {
  const stream = `BT /F1 24 Tf 72 720 Td (${line}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    `<< /Title (${title}) >>`,
  ];
  let text = "%PDF-1.4\n";
  const places = objects.map((object, nth) => {
    const place = text.length;
    text += `${nth + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer << /Size ${size} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${text.length}\n%%EOF`;
  return new TextEncoder().encode(text);
}

/** The least of a Word document, around its body in WordprocessingML. */
export async function docxOf(body: string): Promise<Uint8Array> {
  const zip = new JSZip();
  const main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
  zip.file(
    "[Content_Types].xml",
    `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${main}"/></Types>`,
  );
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
  zip.file(
    "_rels/.rels",
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${office}" Target="word/document.xml"/></Relationships>`,
  );
  const word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  zip.file("word/document.xml", `<w:document xmlns:w="${word}"><w:body>${body}</w:body></w:document>`);
  return zip.generateAsync({ type: "uint8array" });
}
