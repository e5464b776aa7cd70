# SPDX-License-Identifier: Apache-2.0
"""A session as a data analyst has it, for a unittest.TestCase: each step's code runs in the same interpreter."""

from png import size_and_lines

FRAME = """
import pandas as pd, numpy as np
frame = pd.read_csv('sales.csv', parse_dates=['day'])
print(frame.groupby('town')['sold'].sum().to_dict())
"""
PLOT = """
import matplotlib.pyplot as plt
figure, axes = plt.subplots(figsize=(4, 3), dpi=100)
frame.pivot_table(index='day', columns='town', values='sold').plot(ax=axes)
axes.set_title('sold a day')
figure.savefig('plot.png')
print(axes.title.get_fontname())
"""
FIT = """
from sklearn.linear_model import LinearRegression
x = np.arange(40).reshape(-1, 1)
model = LinearRegression().fit(x, 3 * x.ravel() + 7)
print(round(float(model.coef_[0]), 6), round(float(model.intercept_), 6), round(float(model.score(x, 3 * x.ravel() + 7)), 6))
"""
OFFICE = """
import docx, openpyxl
document = docx.Document()
document.add_heading('Report', 1)
document.add_paragraph('Bern sold 9.')
document.save('report.docx')
frame.to_excel('sales.xlsx', index=False)
print([p.text for p in docx.Document('report.docx').paragraphs])
print([[cell.value for cell in row][1:] for row in openpyxl.load_workbook('sales.xlsx').active.iter_rows(max_row=2)])
"""
VERSIONS = """
import importlib.metadata as m
wanted = dict(line.split('==') for line in '''%s'''.split())
print([name for name, version in wanted.items() if not m.version(name).startswith(version.removesuffix('*'))])
"""


def check(test, session, requirements):
    """`requirements`: lines NAME==VERSION.* that the session's packages have to meet."""
    def step(source, expected):
        result = session.code(source, 110)
        test.assertEqual((result.status, result.return_code, result.stderr), (200, 0, ""), result)
        test.assertEqual(result.stdout, expected)
        return result

    test.assertEqual(session.put(b"day,town,sold\n2026-01-01,Bern,4\n2026-01-01,Zug,2\n2026-01-02,Bern,5\n2026-01-02,Zug,8\n", "sales.csv").status, 201)
    step(VERSIONS % requirements, "[]")
    step(FRAME, "{'Bern': 9, 'Zug': 10}")
    test.assertEqual(step(PLOT, "DejaVu Sans").files, ["plot.png"])
    picture = session.get("plot.png")
    test.assertEqual((picture.status, picture.headers["content-type"]), (200, "image/png"))
    width, height, lines = size_and_lines(bytes(picture.body))
    test.assertEqual((width, height), (400, 300))
    test.assertGreater(lines, 50, "an empty picture")
    step(FIT, "3.0 7.0 1.0")
    step(OFFICE, "['Report', 'Bern sold 9.']\n[['town', 'sold'], ['Bern', 4]]")
    test.assertEqual(bytes(session.get("report.docx").body)[:2], b"PK")
