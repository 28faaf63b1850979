module quita.example/shop

go 1.19
