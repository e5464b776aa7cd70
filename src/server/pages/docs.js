// SPDX-License-Identifier: Apache-2.0
// The page /docs: shows openapi.json, and sends the requests that it describes. Text reaches the page as text only.
"use strict";

const METHODS = ["get", "put", "post", "delete", "patch"];
const MOST_SHOWN = 100000; // characters of a body
let description;

const byId = (id) => document.getElementById(id);

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// The little of Markdown that the descriptions use: paragraphs, lists and `code`.
function prose(text) {
  if (!text) return [];
  const spans = (line) => line.split("`").map((part, n) => (n % 2 ? element("code", part) : part));
  return text.split("\n\n").map((block) => {
    const list = block.startsWith("* ");
    const made = element(list ? "ul" : "p");
    if (!list) made.append(...spans(block));
    for (const item of list ? block.slice(2).split("\n* ") : []) {
      made.append(element("li"));
      made.lastChild.append(...spans(item));
    }
    return made;
  });
}

function resolve(node) {
  while (node && node.$ref) node = node.$ref.slice(2).split("/").reduce((at, key) => at[key], description);
  return node || {};
}

function typeName(schema) {
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  const types = [].concat(schema.type || "any");
  return types.map((type) => (type === "array" && schema.items ? "list of " + typeName(resolve(schema.items)) : type)).join(" or ");
}

// The fields of a schema, those of its parts below them.
function fields(schema) {
  schema = resolve(schema);
  if (schema.oneOf && !schema.type) {
    const list = element("ul");
    for (const part of schema.oneOf) {
      list.append(element("li"));
      list.lastChild.append(...prose(resolve(part).description), ...fields(part));
    }
    return [list];
  }
  if (schema.items) return fields(schema.items);
  if (!schema.properties) return [];
  const list = element("ul");
  for (const [name, given] of Object.entries(schema.properties)) {
    const property = resolve(given);
    const item = element("li");
    const needed = (schema.required || []).includes(name) ? "" : ", optional";
    item.append(element("code", name), ` ${typeName(property)}${needed}. `);
    for (const block of prose(property.description)) item.append(...block.childNodes, " ");
    item.append(...fields(property));
    list.append(item);
  }
  return [list];
}

function examplesOf(media) {
  if (media.examples) return Object.entries(media.examples).map(([name, example]) => [name, example.value]);
  return "example" in media ? [["", media.example]] : [];
}

const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

function headers() {
  const token = byId("token").value;
  return token ? { Authorization: "Bearer " + token } : {};
}

function addInput(form, name, input, hint) {
  const label = element("label", name + " ");
  input.name = name;
  label.append(input);
  form.querySelector(".inputs").append(label, ...prose(hint));
}

function addBody(form, content) {
  if (content["multipart/form-data"]) {
    const schema = resolve(content["multipart/form-data"].schema);
    for (const [name, given] of Object.entries(schema.properties)) {
      const property = resolve(given);
      addInput(form, name, element("input", "", { type: property.contentMediaType ? "file" : "text" }), property.description);
    }
  } else if (content["application/json"]) {
    const text = element("textarea", "", { rows: "8", spellcheck: "false" });
    const examples = examplesOf(content["application/json"]);
    const choice = element("select");
    for (const [name] of examples) choice.append(element("option", name));
    const take = () => { text.value = pretty(examples[choice.selectedIndex][1]); };
    choice.addEventListener("change", take);
    if (examples.length > 1) addInput(form, "example", choice);
    addInput(form, "body", text);
    if (examples.length) take();
    form.querySelector(".inputs").append(...fields(content["application/json"].schema));
  }
}

function requestOf(form, method, path, parameters, content) {
  const query = new URLSearchParams();
  for (const { name, in: place } of parameters) {
    const value = form.elements[name].value;
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value) query.set(name, value);
  }
  const options = { method: method.toUpperCase(), headers: headers(), credentials: "omit" };
  if (content["multipart/form-data"]) {
    options.body = new FormData();
    for (const input of form.querySelectorAll(".inputs input")) {
      if (parameters.some((parameter) => parameter.name === input.name)) continue;
      if (input.type !== "file") {
        if (input.value) options.body.append(input.name, input.value);
      } else if (input.files.length) {
        options.body.append(input.name, input.files[0]);
      }
    }
  } else if (content["application/json"] && form.elements.body.value) {
    options.body = form.elements.body.value;
    options.headers["Content-Type"] = "application/json";
  }
  const text = query.toString();
  return [path.slice(1) + (text && "?" + text), options];
}

async function show(section, response) {
  const type = response.headers.get("Content-Type") || "";
  const bytes = await response.blob();
  const text = /^(text\/|application\/(json|.*\+json))/.test(type) ? await bytes.text() : "";
  section.querySelector("h3").textContent = `${response.status} ${response.statusText}`;
  let shown = text;
  try {
    shown = pretty(JSON.parse(text));
  } catch {
    if (!text && bytes.size) shown = `${bytes.size} bytes of ${type}`;
  }
  section.querySelector("pre").textContent =
    shown.length > MOST_SHOWN ? shown.slice(0, MOST_SHOWN) + "\n… the rest is not shown" : shown;
  const link = section.querySelector("a");
  if (link.href) URL.revokeObjectURL(link.href);
  link.hidden = !response.headers.get("Content-Disposition");
  if (!link.hidden) {
    link.href = URL.createObjectURL(bytes);
    const named = /filename\*=UTF-8''(.*)$/.exec(response.headers.get("Content-Disposition"));
    link.download = named ? decodeURIComponent(named[1]) : "file";
  }
  section.hidden = false;
  return text;
}

// The session of the latest handle is filled in everywhere.
function useSession(id) {
  for (const input of document.querySelectorAll("input[name=session_id]")) input.value = id;
}

async function send(section, form, operation, method, path, parameters, content) {
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const response = await fetch(...requestOf(form, method, path, parameters, content));
    const text = await show(section, response);
    if (operation.operationId === "createSession" && response.ok) useSession(JSON.parse(text).session_id);
  } catch (error) {
    section.querySelector("h3").textContent = "No answer";
    section.querySelector("pre").textContent = error.message;
    section.hidden = false;
  } finally {
    button.disabled = false;
  }
}

function addOperation(method, path, item) {
  const operation = item[method];
  const made = byId("operation").content.cloneNode(true);
  const details = made.querySelector(".operation");
  details.id = operation.operationId;
  made.querySelector(".method").textContent = method.toUpperCase();
  made.querySelector(".path").textContent = path;
  made.querySelector(".title").textContent = operation.summary;
  made.querySelector(".text").append(...prose(operation.description));
  const form = made.querySelector("form");
  const parameters = [...(item.parameters || []), ...(operation.parameters || [])].map(resolve);
  for (const parameter of parameters) {
    addInput(form, parameter.name, element("input", "", parameter.required ? { required: "" } : {}), parameter.description);
  }
  const content = resolve(operation.requestBody).content || {};
  addBody(form, content);
  const answers = made.querySelector("dl");
  for (const [status, given] of Object.entries(operation.responses)) {
    const response = resolve(given);
    answers.append(element("dt", status), element("dd"));
    answers.lastChild.append(...prose(response.description));
    for (const media of Object.values(response.content || {})) {
      if (status < 300) answers.lastChild.append(...fields(media.schema));
      for (const [, example] of examplesOf(media)) answers.lastChild.append(element("pre", pretty(example)));
    }
  }
  const section = made.querySelector(".answer");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(section, form, operation, method, path, parameters, content);
  });
  byId("operations").append(made);
}

async function load() {
  const problem = byId("problem");
  problem.hidden = true;
  try {
    const response = await fetch("openapi.json", { headers: headers(), credentials: "omit" });
    if (!response.ok) throw new Error(response.status === 401 ? "This server asks for a token: enter it above." : `openapi.json: ${response.status}`);
    const source = await response.blob();
    description = JSON.parse(await source.text());
    // Behind a token a plain link to it leads nowhere.
    if (byId("token").value) byId("source").href = URL.createObjectURL(source);
    byId("about").replaceChildren(...prose(description.info.description));
    byId("operations").replaceChildren();
    for (const [path, item] of Object.entries(description.paths)) {
      for (const method of METHODS) if (item[method]) addOperation(method, path, item);
    }
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

byId("access").addEventListener("submit", (event) => {
  event.preventDefault();
  load();
});
load();
