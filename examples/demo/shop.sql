-- The sample database of examples/demo.json: made when the server is started for the first time.
CREATE TABLE products (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  category TEXT NOT NULL,
  price REAL NOT NULL CHECK (price > 0),
  stock INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE customers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  harbour TEXT NOT NULL
);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  day TEXT NOT NULL,
  customer INTEGER NOT NULL REFERENCES customers (id),
  product INTEGER NOT NULL REFERENCES products (id),
  quantity INTEGER NOT NULL CHECK (quantity > 0)
);
CREATE INDEX orders_by_day ON orders (day);

INSERT INTO products (name, category, price, stock) VALUES
  ('Cleat, 150 mm, bronze', 'fittings', 24.90, 42),
  ('Cleat, 200 mm, stainless', 'fittings', 31.50, 17),
  ('Pop-up cleat, 150 mm', 'fittings', 58.00, 6),
  ('Fairlead, pair', 'fittings', 19.80, 23),
  ('Backing plate, aluminium', 'fittings', 9.40, 80),
  ('Mooring line, 12 mm, 10 m', 'rope', 34.00, 31),
  ('Mooring line, 14 mm, 15 m', 'rope', 56.00, 9),
  ('Polyester, 8 mm, per metre', 'rope', 1.60, 400),
  ('Dyneema, 5 mm, per metre', 'rope', 3.90, 250),
  ('Fender, 20 x 60 cm', 'fenders', 42.00, 14),
  ('Fender cover', 'fenders', 15.00, 28),
  ('Sealant, white', 'care', 12.90, 55);
INSERT INTO customers (name, harbour) VALUES
  ('Ada Lund', 'Oslo'), ('Bo Nilsen', 'Bergen'), ('Cara O''Neill', 'Cork'), ('Dirk Petersen', 'Cuxhaven'),
  ('Edda Holm', 'Stavanger'), ('Finn McKay', 'Oban'), ('Greta Vos', 'Falmouth'), ('Henrik Dahl', 'Oslo');
-- Two hundred orders, always the same ones.
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
INSERT INTO orders (day, customer, product, quantity)
SELECT date('2026-03-01', '+' || (i * 143 / 200) || ' days'), 1 + (i * 7) % 8, 1 + (i * i + i) % 12, 1 + (i * 5) % 4 FROM n;
