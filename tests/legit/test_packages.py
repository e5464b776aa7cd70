# SPDX-License-Identifier: Apache-2.0
"""What data analysis imports works in a session."""

from in_sessions import both_modes


class Packages:
    def test_numpy(self):
        self.works("import numpy as np\na = np.random.default_rng(1).random((300, 300))\nassert np.allclose(np.linalg.inv(a) @ a, np.eye(300), atol=1e-6)\n"
                   "np.save('a.npy', a); m = np.load('a.npy', mmap_mode='r'); assert (m == a).all()\nassert len(np.fft.fft(a[0])) == 300\nprint('fine')")

    def test_pandas(self):
        self.works("import pandas as pd\nd = pd.DataFrame({'city': ['Bern', 'Zug', 'Bern'], 'n': [1, 2, 3]})\nd.to_csv('t.csv', index=False)\n"
                   "assert pd.read_csv('t.csv').groupby('city').n.sum().to_dict() == {'Bern': 4, 'Zug': 2}\nd.to_excel('t.xlsx', index=False)\n"
                   "assert pd.read_excel('t.xlsx').equals(d)\nassert pd.date_range('2024-01-01', periods=3, tz='Europe/Zurich')[2].day == 3\nprint('fine')")

    def test_scipy(self):
        self.works("import numpy as np, scipy.optimize, scipy.stats, scipy.sparse.linalg, scipy.integrate\n"
                   "assert abs(scipy.optimize.minimize(lambda x: (x - 3) ** 2, 0).x[0] - 3) < 1e-4\nassert scipy.stats.ttest_ind([1, 2, 3], [1, 2, 3]).pvalue == 1\n"
                   "assert abs(scipy.integrate.quad(np.sin, 0, np.pi)[0] - 2) < 1e-9\nassert scipy.sparse.linalg.spsolve(scipy.sparse.eye(5, format='csc'), np.ones(5)).sum() == 5\nprint('fine')")

    def test_scikit_learn(self):
        self.works("from sklearn.datasets import load_iris\nfrom sklearn.ensemble import RandomForestClassifier\nfrom sklearn.model_selection import cross_val_score\n"
                   "x, y = load_iris(return_X_y=True)\nassert cross_val_score(RandomForestClassifier(20, random_state=0, n_jobs=2), x, y, cv=3).mean() > 0.9\nprint('fine')")

    def test_joblib_with_processes(self):
        self.works("from joblib import Parallel, delayed\nimport math\nassert Parallel(n_jobs=2)(delayed(math.sqrt)(i * i) for i in range(8)) == list(range(8))\nprint('fine')")

    def test_matplotlib_figures_and_fonts(self):
        result = self.works("import matplotlib, matplotlib.pyplot as plt, matplotlib.font_manager as fonts\nassert fonts.findfont('DejaVu Sans').endswith('DejaVuSans.ttf')\n"
                            "plt.plot([1, 4, 9]); plt.title('größer α $x^2$')\nfor kind in ('png', 'pdf', 'svg'): plt.savefig('plot.' + kind)\nprint('fine')")
        self.assertEqual(sorted(result.files), ["plot.pdf", "plot.png", "plot.svg"])
        for name, start in (("plot.png", b"\x89PNG"), ("plot.pdf", b"%PDF"), ("plot.svg", b"<?xml")):
            self.assertTrue(bytes(self.session.get(name).body).startswith(start), name)

    def test_pillow(self):
        self.works("from PIL import Image, ImageDraw, ImageFont, ImageFilter\ni = Image.new('RGB', (200, 100), 'white')\nImageDraw.Draw(i).text((5, 5), 'text', fill='black', font=ImageFont.load_default())\n"
                   "for kind in ('png', 'jpeg', 'gif', 'webp', 'tiff'):\n    i.filter(ImageFilter.BLUR).resize((50, 25)).save('i.' + kind)\n    assert Image.open('i.' + kind).size == (50, 25)\nprint('fine')")

    def test_lxml(self):
        self.works("from lxml import etree, html\nt = etree.fromstring('<a><b x=\"1\">t</b></a>')\nassert t.xpath('//b/@x') == ['1']\nassert html.fromstring('<p>a<p>b').xpath('//p')[1].text == 'b'\n"
                   "etree.ElementTree(t).write('t.xml'); assert etree.parse('t.xml').getroot().tag == 'a'\n"
                   "x = etree.XSLT(etree.XML('<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\"><xsl:template match=\"/\"><r/></xsl:template></xsl:stylesheet>'))\n"
                   "assert x(t).getroot().tag == 'r'\nprint('fine')")

    def test_openpyxl(self):
        self.works("import openpyxl\nfrom openpyxl.chart import BarChart, Reference\nw = openpyxl.Workbook(); s = w.active\nfor r in ((1, 2), (3, 4)): s.append(r)\nc = BarChart(); c.add_data(Reference(s, 1, 1, 2, 2)); s.add_chart(c)\n"
                   "s['C1'] = '=SUM(A1:B1)'; w.save('w.xlsx')\nassert openpyxl.load_workbook('w.xlsx').active['B2'].value == 4\nprint('fine')")

    def test_the_other_packages_of_the_image(self):
        self.works("import bs4, docx, pptx, pypdf, pytz, requests, seaborn, sympy, xlrd, xlsxwriter, io\nassert bs4.BeautifulSoup('<p>a<b>c', 'lxml').b.text == 'c'\nd = docx.Document(); d.add_paragraph('p'); d.save('d.docx'); assert docx.Document('d.docx').paragraphs[0].text == 'p'\n"
                   "p = pptx.Presentation(); p.slides.add_slide(p.slide_layouts[5]); p.save('p.pptx'); assert len(pptx.Presentation('p.pptx').slides) == 1\nw = pypdf.PdfWriter(); w.add_blank_page(100, 100); w.write('b.pdf'); assert len(pypdf.PdfReader('b.pdf').pages) == 1\n"
                   "x = sympy.symbols('x'); assert sympy.solve(x ** 2 - 4) == [-2, 2]\nw = xlsxwriter.Workbook('x.xlsx'); w.add_worksheet().write(0, 0, 1); w.close()\nseaborn.histplot([1, 2, 2]).figure.savefig('s.png')\n"
                   "try: requests.get('http://192.0.2.1', timeout=5)\nexcept requests.ConnectionError: print('fine')")


both_modes(Packages, globals())
