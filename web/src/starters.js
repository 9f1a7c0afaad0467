// SPDX-License-Identifier: Apache-2.0
// Three recipes to begin with, and the text of a new one.
export const TEMPLATE = `seine: 1
name: new recipe
start: https://example.org/list
items:
  kind: item
  each: li
  fields:
    title: a
    link: {css: a, attr: href, type: url}
`
export const STARTERS = [
    { title: "A list of things", about: "One row per entry of a listing, and the next page after it.", text: `seine: 1
name: list
start: https://shop.example/books?page=1
next: {css: a.next, attr: href, max: 50}
items:
  kind: book
  each: li.book
  unique: link
  fields:
    title: {css: h2, required: true}
    link: {css: a, attr: href, type: url, required: true}
    price: {css: .price, type: money}
expect: {items: ">= 1"}
` },
    { title: "Articles of a blog", about: "Follows the links of a front page and reads each article.", text: `seine: 1
name: blog
start: https://blog.example/
follow:
  - {css: article h2 a, to: article}
pages:
  article:
    items:
      kind: article
      fields:
        title: {css: h1, required: true}
        author: .author
        published: {css: time, attr: datetime, type: datetime}
        text: {css: article, attr: text}
` },
    { title: "A table of figures", about: "Rows of a table by the names of its columns.", text: `seine: 1
name: table
start: https://figures.example/countries
items:
  kind: country
  each: {table: table.data, header: 1}
  fields:
    name: {col: Country, required: true}
    people: {col: Population, type: int}
    area: {col: Area, type: number}
` },
]
