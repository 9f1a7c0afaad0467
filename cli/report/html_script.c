/* SPDX-License-Identifier: Apache-2.0 */
/* The script of the page: headings of tables sort their rows, and long tables have a
 * filter. Without it the page is complete. It writes text alone, never markup; its hash
 * stands in the policy of the page, so that no other script runs; a test compares both.
 */
#include "report/html.h"

/* clang-format off */
const char html_script[] =
"'use strict';(()=>{\n"
"const units={us:1e-6,ms:1e-3,s:1,min:60,h:3600,d:86400,KB:1024,MB:1048576,GB:1073741824,TB:1099511627776};\n"
"const make=(tag,text)=>{const e=document.createElement(tag);e.textContent=text;return e};\n"
"const size=text=>{let sum=NaN;\n"
" for(const m of text.matchAll(/(-?\\d[\\d,]*\\.?\\d*)\\s*([a-zA-Z]*)/g))\n"
"  sum=(sum||0)+parseFloat(m[1].replace(/,/g,''))*(units[m[2]]||1);\n"
" return sum};\n"
"const before=(a,b,isNumber)=>isNumber?(isNaN(a)?-1:a)-(isNaN(b)?-1:b):a.localeCompare(b,'en',{numeric:true});\n"
"const sorter=(body,th,at)=>()=>{\n"
" const now=th.getAttribute('aria-sort'),isNumber=th.classList.contains('n');\n"
" const down=isNumber?now!=='descending':now==='ascending';\n"
" const key=row=>{const t=row.cells[at]?row.cells[at].textContent:'';return isNumber?size(t):t};\n"
" for(const other of th.parentNode.cells)other.removeAttribute('aria-sort');\n"
" th.setAttribute('aria-sort',down?'descending':'ascending');\n"
" body.append(...[...body.rows].map(r=>[key(r),r]).sort((a,b)=>before(a[0],b[0],isNumber)*(down?-1:1)).map(p=>p[1]))};\n"
"for(const table of document.querySelectorAll('main table')){\n"
" const body=table.tBodies[0],region=table.parentNode;\n"
" if(!body||body.rows.length<3)continue;\n"
" [...table.tHead.rows[0].cells].forEach((th,at)=>{\n"
"  if(!th.textContent)return;\n"
"  const b=make('button',th.textContent);b.type='button';b.addEventListener('click',sorter(body,th,at));th.replaceChildren(b)});\n"
" if(body.rows.length<10)continue;\n"
" const label=make('label','Filter '),input=make('input',''),count=make('output','');\n"
" input.type='search';label.className='filter';label.append(input,count);region.before(label);\n"
" input.addEventListener('input',()=>{let n=0;const want=input.value.toLowerCase();\n"
"  for(const row of body.rows){row.hidden=!row.textContent.toLowerCase().includes(want);n+=!row.hidden}\n"
"  count.textContent=want?' '+n+' of '+body.rows.length+' rows':''})}\n"
"})()\n";

const char html_script_style[] =
"thead button{all:unset;cursor:pointer;min-height:24px}thead button:focus-visible{outline:2px solid var(--link)}\n"
"th[aria-sort=ascending] button::after{content:' \\2191'}th[aria-sort=descending] button::after{content:' \\2193'}\n"
".filter{display:block;margin:.75rem 0}.filter input{font:inherit;min-height:24px}@media print{.filter{display:none}}\n";
/* clang-format on */

const char html_script_hash[] = "sha256-Gy9cdvYQgPvuF7cBHKXb2ZWvddCJjp+ZLp0kNws3Lnw=";
